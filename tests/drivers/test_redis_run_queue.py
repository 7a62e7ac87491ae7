import pytest
from redis.asyncio import Redis

from longline.drivers import redis_run_queue
from longline.drivers.redis_run_queue import KEY, RedisRunQueue
from longline.model.errors import Unavailable


async def test_ids_are_pushed_from_the_left_and_bounded(redis_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redis_run_queue, "MAX_LENGTH", 3)
    queue = RedisRunQueue(redis_url)
    for uid in "abcd":
        await queue.push(uid)
    async with Redis.from_url(redis_url) as client:
        assert await client.lrange(KEY, 0, -1) == [b"d", b"c", b"b"]
        assert await client.rpop(KEY) == b"b", "first in, first out"
    await queue.close()


async def test_a_server_that_is_gone_is_unavailable():
    queue = RedisRunQueue("redis://127.0.0.1:1")
    with pytest.raises(Unavailable):
        await queue.push("a")
    await queue.close()
