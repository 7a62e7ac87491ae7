"""Source events over a real server of the Redis protocol."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from longline.drivers.sources import redis_events as source_events
from longline.drivers.sources.redis_events import GROUP, PARKED, STREAM, RedisSourceEvents
from longline.model.errors import Unavailable


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def consumer(redis_url: str) -> AsyncIterator[RedisSourceEvents]:
    consumer = RedisSourceEvents(redis_url, wait_ms=20, idle_ms=60_000)
    yield consumer
    await consumer.close()


async def test_messages_sent_before_and_after_are_received_once(server: Redis, consumer: RedisSourceEvents):
    await server.xadd(STREAM, {"event": "one"})
    assert [delivery.body for delivery in await consumer.receive()] == [b"one"]
    await server.xadd(STREAM, {"event": "two"})
    await server.xadd(STREAM, {"odd": "x"})
    found = await consumer.receive()
    assert [(delivery.body, delivery.times) for delivery in found] == [(b"two", 1), (None, 1)]
    assert await consumer.receive() == []
    await consumer.acknowledge([delivery.id for delivery in found])
    await consumer.acknowledge([])
    assert (await server.xpending(STREAM, GROUP))["pending"] == 1


async def test_an_unacknowledged_message_is_claimed_by_another_consumer(server: Redis, redis_url: str):
    dead = RedisSourceEvents(redis_url, wait_ms=20, idle_ms=60_000)
    await server.xadd(STREAM, {"event": "one"})
    await dead.receive()
    await dead.close()
    for times in (2, 3):
        other = RedisSourceEvents(redis_url, wait_ms=20, idle_ms=0)
        [delivery] = await other.receive()
        assert (delivery.body, delivery.times) == (b"one", times)
        await other.close()


async def test_the_group_is_made_again_on_an_emptied_server(server: Redis, consumer: RedisSourceEvents):
    await consumer.receive()
    await server.flushall()
    with pytest.raises(Unavailable, match="NOGROUP"):
        await consumer.receive()
    await server.xadd(STREAM, {"event": "after"})
    assert [delivery.body for delivery in await consumer.receive()] == [b"after"]


async def test_two_consumers_share_the_messages(server: Redis, redis_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source_events, "BATCH_SIZE", 1)
    both = [RedisSourceEvents(redis_url, wait_ms=20, idle_ms=60_000) for _ in range(2)]
    for text in ("one", "two"):
        await server.xadd(STREAM, {"event": text})
    got = [delivery.body for consumer in both for delivery in await consumer.receive()]
    assert got == [b"one", b"two"]
    for consumer in both:
        await consumer.close()


async def test_a_parked_message_is_moved_with_its_error(server: Redis, consumer: RedisSourceEvents):
    await server.xadd(STREAM, {"event": "bad"})
    [delivery] = await consumer.receive()
    await consumer.park(delivery, "why")
    assert (await server.xpending(STREAM, GROUP))["pending"] == 0
    found: Any = await server.xrange(PARKED)
    [(_, parked)] = found
    assert (parked[b"event"], parked[b"error"]) == (b"bad", b"why")


async def test_an_unreachable_server_is_unavailable():
    consumer = RedisSourceEvents("redis://127.0.0.1:1/0")
    with pytest.raises(Unavailable, match="source events cannot be had"):
        await consumer.receive()
    await consumer.close()
