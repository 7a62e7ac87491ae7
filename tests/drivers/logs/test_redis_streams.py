"""Copies of logs over a real server of the Redis protocol."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from longline.drivers.logs.redis_streams import RedisLogCopies
from longline.model.errors import Unavailable
from longline.model.logs.run_log import LogMark


@pytest.fixture
async def copies(redis_url: str) -> AsyncIterator[RedisLogCopies]:
    opened = RedisLogCopies(redis_url, "logs", 60)
    yield opened
    await opened.close()


def line(text: str) -> dict[str, Any]:
    said = {"timestamp": "t", "level": "info", "category": "crawler.fetch", "message": text}
    return said | {"job_id": "j", "execution_id": "e", "fields": {"n": 1}}


async def test_each_entry_is_copied_once_and_expires(copies: RedisLogCopies, redis_url: str):
    assert await copies.last("j") is None
    await copies.add("j", [(LogMark(1, 1), line("a")), (LogMark(1, 2), line("b"))])
    await copies.add("j", [(LogMark(1, 2), line("b")), (LogMark(2, 1), line("c"))])
    assert await copies.last("j") == LogMark(2, 1)
    async with Redis.from_url(redis_url) as server:
        found: Any = await server.xrange("logs:j")
        assert [(name, fields[b"message"]) for name, fields in found] == [
            (b"1-1", b"a"),
            (b"1-2", b"b"),
            (b"2-1", b"c"),
        ]
        assert (found[0][1][b"exec_id"], found[0][1][b"fields"]) == (b"e", b'{"n":1}')
        assert 0 < await server.ttl("logs:j") <= 60


async def test_an_error_of_the_server_is_reported(copies: RedisLogCopies, redis_url: str):
    async with Redis.from_url(redis_url) as server:
        await server.set("logs:j", "no stream")
    with pytest.raises(Unavailable, match="WRONGTYPE"):
        await copies.add("j", [(LogMark(1, 1), line("a"))])


async def test_an_unreachable_server_is_unavailable():
    away = RedisLogCopies("redis://127.0.0.1:1/0", "logs", 60)
    with pytest.raises(Unavailable):
        await away.last("j")
    await away.close()
