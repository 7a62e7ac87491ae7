"""A self-test of an object store: one object is written, read and removed."""

from longline.model.errors import Unavailable
from longline.model.ids import new_id
from longline.ports.blobs import Blobs


async def write_and_read(blobs: Blobs, name: str) -> None:
    """Raise `Unavailable` unless the store returns the bytes that were written."""
    key, data = f".check-{new_id()}", b"longline"
    await blobs.put(key, data)
    kept = await blobs.get(key)
    await blobs.delete([key])
    if kept != data:
        raise Unavailable(f"{name} did not return the object that was written")
