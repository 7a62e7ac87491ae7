"""Caches: inside the process, or in Redis."""

from longline.drivers.cache.memory import MemoryCache
from longline.drivers.extras import load_driver
from longline.ports.cache import Cache
from longline.ports.clock import Clock


def open_cache(clock: Clock, redis: str | None = None) -> Cache:
    """Return a cache in Redis if given, else one inside the process; connect to nothing yet."""
    if redis:
        cache: Cache = load_driver("longline.drivers.cache.redis").RedisCache(redis)
        return cache
    return MemoryCache(clock)
