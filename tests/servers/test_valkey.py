import importlib.util

import pytest
from redis.asyncio import Redis

from tests.servers import ServerFailed
from tests.servers.valkey import find_valkey


async def test_streams_work(redis_url):
    async with Redis.from_url(redis_url) as client:
        await client.xadd("line", {"hook": "1"})

        assert await client.xlen("line") == 1


async def test_each_test_gets_an_empty_server(redis_url):
    async with Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0
        await client.set("left", "behind")


async def test_no_key_of_the_previous_test_is_left(redis_url):
    async with Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0


async def test_the_version_is_that_of_the_server(valkey_server):
    async with Redis.from_url(valkey_server.url) as client:
        told = await client.info("server")

    assert told["valkey_version"] in valkey_server.version


def test_no_program_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ServerFailed, match="no Valkey"):
        find_valkey()
