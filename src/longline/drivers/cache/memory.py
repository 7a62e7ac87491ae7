"""A cache inside the process, of a bounded number of entries."""

from collections.abc import Iterable

from longline.model.bounded_dict import BoundedDict
from longline.ports.clock import Clock

MAX_ENTRIES = 2000


class MemoryCache:
    """Values with the times at which they expire."""

    def __init__(self, clock: Clock, max_entries: int = MAX_ENTRIES) -> None:
        self._clock = clock
        self._entries: BoundedDict[str, tuple[float, bytes]] = BoundedDict(max_entries)

    async def get(self, key: str) -> bytes | None:
        expires, value = self._entries.get(key, (0.0, None))
        return value if expires > self._clock.monotonic() else None

    async def put(self, key: str, value: bytes, ttl_seconds: float | None = None) -> None:
        expires = float("inf") if ttl_seconds is None else self._clock.monotonic() + ttl_seconds
        self._entries[key] = expires, value

    async def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._entries.pop(key, None)

    async def close(self) -> None:
        self._entries.clear()
