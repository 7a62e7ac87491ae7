"""Bytes under keys: the archive, manifests, logs. Database rows refer to blobs by key; SQL never stores their bytes."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
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


Labels = Callable[[], Mapping[str, str]]
"""A function that returns the attributes of an object when they are needed.

The attributes of a small object are asked for after its last piece, those of a large one before its first part.
"""


class StreamingBlobs(Blobs, Protocol):
    """An object store that takes objects piece by piece, and has several buckets."""

    async def upload(self, key: str, pieces: AsyncIterable[bytes | memoryview], labels: Labels | None = None) -> int:
        """Store an object durably without holding the whole; return its number of bytes.

        Nothing is visible before the last piece. An error raised by `pieces` abandons the object and is raised again:
        the end of `pieces` is the place for checks. Raise `UploadRefused` when the store does not take this object.
        """
        ...

    def bucket(self, name: str) -> "StreamingBlobs":
        """Return the store of another bucket, with the same credentials."""
        ...
