"""Bytes under keys: the archive, manifests, logs. Rows name them; they are never kept in SQL."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol


class BlobInfo(NamedTuple):
    """What a listing tells of one object."""

    key: str
    size: int


class Blobs(Protocol):
    """An object store. Raises `NotFound` for a missing key and `Unavailable` when the store cannot be used."""

    async def put(self, key: str, data: bytes | Sequence[bytes], labels: Mapping[str, str] | None = None) -> None:
        """Store an object durably, replacing what was there; when this returns the object is there whole.

        `labels` are what a store tells of the object, its Content-Type among them, where it can tell anything.
        """
        ...

    async def create(self, key: str, data: bytes | Sequence[bytes]) -> bool:
        """Store an object unless the key is taken; False when it was."""
        ...

    async def get(self, key: str) -> bytes:
        """The whole object."""
        ...

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; fewer bytes than asked for is an error."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove objects; a key that is not there is no error."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        """Every object under a prefix, in key order."""
        ...

    async def check(self) -> str:
        """Prove that objects can be written and read; answer what the store is, in a few words."""
        ...
