"""A cache of short texts: an entry may be gone at any time."""

from collections.abc import Iterable
from typing import Protocol


class Cache(Protocol):
    """Values by key. Raises `Unavailable` when the cache cannot be used."""

    async def get(self, key: str) -> bytes | None:
        """Return the value of a key, None for a key without one."""
        ...

    async def put(self, key: str, value: bytes, ttl_seconds: float | None = None) -> None:
        """Store a value, for so many seconds or until it is replaced."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove keys; a missing one is no error."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
