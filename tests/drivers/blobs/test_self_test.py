import pytest
from obstore.store import MemoryStore

from longline.drivers.blobs.object_store import ObjectBlobs, StoreTraits, open_memory
from longline.drivers.blobs.self_test import write_and_read
from longline.model.errors import Unavailable


class Forgetful(ObjectBlobs):
    """A store that returns other bytes."""

    async def get(self, key: str) -> bytes:
        return (await super().get(key))[:-1]


async def test_a_store_that_returns_other_bytes_is_unavailable():
    blobs = Forgetful(MemoryStore(), StoreTraits("the sieve", str, lambda _: open_memory()))
    with pytest.raises(Unavailable, match="the sieve did not return"):
        await write_and_read(blobs, "the sieve")
    assert [info async for info in blobs.list()] == []
