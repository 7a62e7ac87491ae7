import pytest
from redis.asyncio import Redis

from longline.drivers.cache import open_cache
from longline.model.errors import Unavailable
from longline.testing.clock import FakeClock


async def test_an_entry_is_a_key_that_expires(redis_url: str):
    cache = open_cache(FakeClock(), redis_url)
    await cache.put("a", b"1", 60.0)
    await cache.put("b", b"2")
    assert (await cache.get("a"), await cache.get("b"), await cache.get("c")) == (b"1", b"2", None)
    async with Redis.from_url(redis_url) as client:
        assert 0 < await client.pttl("a") <= 60_000
        assert await client.pttl("b") == -1
    await cache.delete(["a", "b"])
    await cache.delete([])
    assert (await cache.get("a"), await cache.get("b")) == (None, None)
    await cache.close()


async def test_a_server_that_is_gone_is_unavailable():
    cache = open_cache(FakeClock(), "redis://127.0.0.1:1")
    with pytest.raises(Unavailable):
        await cache.get("a")
    await cache.close()
