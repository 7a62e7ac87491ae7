"""Bytes under keys: the archive, manifests, logs. Database rows refer to blobs by key; SQL never stores their bytes."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol


class BlobInfo(NamedTuple):
    """The key and size of one object in a listing."""

    key: str
    size: int


class Blobs(Protocol):
    """An object store. Raises `NotFound` for a missing key and `Unavailable` when the store cannot be used."""

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        """Store an object durably, replacing an earlier one; on return the whole object is stored.

        `labels` are attributes of the object, such as its Content-Type, for stores that keep attributes.
        """
        ...

    async def get(self, key: str) -> bytes:
        """Return the whole object."""
        ...

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`; an object with fewer bytes is an error."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; a missing key is no error."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        """Yield every object under a prefix, in key order."""
        ...

    async def check(self) -> str:
        """Prove that objects can be written and read; return a short description of the store."""
        ...
