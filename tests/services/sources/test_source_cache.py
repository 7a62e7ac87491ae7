"""The cache of sources: versions decide, and a broken cache costs time alone."""

from collections.abc import Iterable, Mapping

from longline.drivers.cache.memory import MemoryCache
from longline.model.errors import Unavailable
from longline.model.sources.source import SourceChange
from longline.services.sources.source_cache import RETRY_SECONDS, CacheEntry, SourceCache, SourceCacheCleaner
from longline.testing.clock import FakeClock

ENTRY = CacheEntry("key", 7, 30.0)


class Versions:
    """Versions that a test sets."""

    def __init__(self) -> None:
        self.now: dict[int | None, int] = {}

    async def get(self, source_id: int | None) -> int:
        return self.now.get(source_id, 0)

    async def parts(self) -> dict[int, int]:
        return {part: max(v for i, v in self.now.items() if i and i % 2 == part) for part in (0, 1)}

    async def after(self, seen: Mapping[int, int], limit: int) -> list[SourceChange]:
        """Return changes in two parts, of even ids and odd ones."""
        found = [SourceChange(i % 2, i, v) for i, v in self.now.items() if i and v > seen.get(i % 2, 0)]
        return sorted(found, key=lambda change: (change.part, change.version))[:limit]


class Values:
    """A value that counts its creations."""

    def __init__(self) -> None:
        self.made = 0

    async def make(self) -> int:
        self.made += 1
        return self.made


class BrokenCache:
    """A cache that fails every call."""

    def __init__(self) -> None:
        self.asked = 0

    async def get(self, key: str) -> bytes | None:
        self.asked += 1
        raise Unavailable(key)

    async def put(self, key: str, value: bytes, ttl_seconds: float | None = None) -> None:
        raise AssertionError(f"asked after a failure: {key} {value!r} {ttl_seconds}")

    async def delete(self, keys: Iterable[str]) -> None: ...

    async def close(self) -> None: ...


async def test_a_value_is_kept_until_its_source_changes_or_its_time_is_over():
    clock, versions, values = FakeClock(), Versions(), Values()
    cache = SourceCache(versions, MemoryCache(clock), clock)
    assert [await cache.get(ENTRY, int, values.make) for _ in range(3)] == [1, 1, 1]
    versions.now[7] = 1
    assert [await cache.get(ENTRY, int, values.make) for _ in range(3)] == [2, 2, 2]
    versions.now[8] = 2
    assert await cache.get(ENTRY, int, values.make) == 2
    clock.advance(30.0)
    assert await cache.get(ENTRY, int, values.make) == 3


async def test_a_value_read_before_a_change_is_not_returned_after_it():
    clock, versions = FakeClock(), Versions()
    cache = SourceCache(versions, MemoryCache(clock), clock)

    async def late() -> str:
        versions.now[7] = 5  # the change is committed after the value was read
        return "old"

    async def fresh() -> str:
        return "new"

    assert await cache.get(ENTRY, str, late) == "old"
    assert await cache.get(ENTRY, str, fresh) == "new"


async def test_a_value_that_cannot_be_decoded_is_made_anew():
    clock, values = FakeClock(), Values()
    memory = MemoryCache(clock)
    await memory.put("key", b"nonsense")
    assert await SourceCache(Versions(), memory, clock).get(ENTRY, int, values.make) == 1


async def test_a_broken_cache_is_not_used_for_a_while():
    clock, broken, values = FakeClock(), BrokenCache(), Values()
    cache = SourceCache(Versions(), broken, clock)
    assert [await cache.get(ENTRY, int, values.make) for _ in range(5)] == [1, 2, 3, 4, 5]
    assert broken.asked == 1
    clock.advance(RETRY_SECONDS)
    await cache.get(ENTRY, int, values.make)
    assert broken.asked == 2


async def test_the_cleaner_removes_the_keys_of_changed_sources():
    clock, versions = FakeClock(), Versions()
    memory = MemoryCache(clock)
    cleaner = SourceCacheCleaner(versions, memory, "all", lambda source_id: [f"s{source_id}"])
    versions.now = {7: 4, 8: 1, 9: 2}
    for key in ("s7", "s8", "s9"):
        await memory.put(key, b"x")
    await cleaner.once()
    assert await memory.get("s7") == b"x", "older changes are in no entry"
    versions.now = {7: 5, 8: 3, 9: 2}
    await cleaner.once()
    assert [await memory.get(key) for key in ("s7", "s8", "s9", "all")] == [None, None, b"x", b"8"]
