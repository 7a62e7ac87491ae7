from longline.drivers.cache import open_cache
from longline.drivers.cache.memory import MemoryCache
from longline.testing.clock import FakeClock


async def test_an_entry_expires():
    clock = FakeClock()
    cache = open_cache(clock)
    await cache.put("a", b"1", 2.0)
    await cache.put("b", b"2")
    assert (await cache.get("a"), await cache.get("b"), await cache.get("c")) == (b"1", b"2", None)
    clock.advance(2.0)
    assert (await cache.get("a"), await cache.get("b")) == (None, b"2")
    await cache.delete(["b", "c"])
    assert await cache.get("b") is None


async def test_the_number_of_entries_is_bounded():
    cache = MemoryCache(FakeClock(), max_entries=2)
    for key in "abc":
        await cache.put(key, key.encode())
    assert [await cache.get(key) for key in "abc"] == [None, b"b", b"c"]
    await cache.close()
