"""A cache of what APIs show of sources. An entry has the version of its source, and is shown while that is the present.

The version is read before the entry is used, and before the value of a new entry is made: neither the caller of a
change nor anyone else gets an older value after the change was committed, whichever process made it.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

from longline.model.errors import Unavailable
from longline.ports.cache import Cache
from longline.ports.clock import Clock
from longline.ports.records.sources import SourceVersionStore

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""Seconds without a look at a cache that could not be used."""

BATCH_SIZE = 1000
Value = TypeVar("Value")


class CachedValue(msgspec.Struct, Generic[Value], frozen=True):
    """An entry: a value, and the version of its source when it was read."""

    version: int
    value: Value


class CacheEntry(msgspec.Struct, frozen=True):
    """The place of a value: its key, the source that it depends on, None for all, and the seconds that it is kept."""

    key: str
    source_id: int | None
    ttl_seconds: float


class SourceCache:
    """A cache of values that depend on a source, or on all of them. Without its store every value is made anew."""

    def __init__(self, versions: SourceVersionStore, cache: Cache, clock: Clock) -> None:
        self._versions, self._cache, self._clock = versions, cache, clock
        self._broken_until = float("-inf")

    async def get(self, entry: CacheEntry, kind: Any, make: Callable[[], Awaitable[Value]]) -> Value:
        """Return the value of an entry, or make it; `kind` is the type of the value."""
        version = await self._versions.get(entry.source_id)
        data = await self._use(lambda: self._cache.get(entry.key))
        found = _read(data, kind) if data else None
        if found is not None and found.version == version:
            return found.value  # type: ignore[no-any-return]  # the type is a value here
        value = await make()
        stored = msgspec.json.encode(CachedValue(version, value))
        await self._use(lambda: self._cache.put(entry.key, stored, entry.ttl_seconds))
        return value

    async def _use(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Ask the cache, unless it has just failed; return None after a failure."""
        if self._clock.monotonic() < self._broken_until:
            return None
        try:
            return await ask()
        except Unavailable as error:
            self._broken_until = self._clock.monotonic() + RETRY_SECONDS
            log.warning("cache unavailable, reading the database", extra={"error": str(error)})
            return None


def _read(data: bytes, kind: Any) -> CachedValue[Any] | None:
    try:
        return msgspec.json.decode(data, type=CachedValue[kind])
    except msgspec.DecodeError:
        return None  # of another version of the program


Keys = Callable[[int], list[str]]
"""A function that returns the keys of a source."""


class SourceCacheCleaner:
    """A chore that removes entries of changed sources from a shared cache, for others that read it.

    The key `generation_key` has the version of all sources together.
    """

    def __init__(self, versions: SourceVersionStore, cache: Cache, generation_key: str, keys: Keys) -> None:
        self._versions, self._cache = versions, cache
        self._generation_key, self._keys = generation_key, keys
        self._seen: dict[int, int] | None = None

    async def once(self) -> None:
        """Remove the entries of sources that changed since the last look."""
        if self._seen is None:
            self._seen = await self._versions.parts()
            return
        while found := await self._versions.after(self._seen, BATCH_SIZE):
            await self._cache.delete([key for change in found for key in self._keys(change.source_id)])
            seen = self._seen | {change.part: change.version for change in found}
            await self._cache.put(self._generation_key, str(sum(seen.values())).encode())
            self._seen = seen
