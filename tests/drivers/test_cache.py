from longline.drivers.cache import open_cache
from longline.drivers.cache.memory import MemoryCache
from longline.drivers.cache.redis import RedisCache
from longline.testing.clock import FakeClock


async def test_a_cache_is_in_redis_if_redis_is_configured():
    for redis, kind in ((None, MemoryCache), ("", MemoryCache), ("redis://127.0.0.1:1", RedisCache)):
        cache = open_cache(FakeClock(), redis)
        assert isinstance(cache, kind)
        await cache.close()
