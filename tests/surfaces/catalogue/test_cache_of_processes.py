"""The cache of the contract (§11.1) with two API processes and a worker: no answer is stale."""

import asyncio
import json
import os
import random
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from redis.asyncio import Redis

from longline.services.callers.tokens import Tokens
from tests.servers import PostgresServer
from tests.servers.process import free_ports
from tests.servers.program import Program
from tests.servers.program import run as run_program
from tests.surfaces.catalogue.running import Json, data

FAR = "2099-01-01T00:00:00Z"
SECRET = "a secret that both servers of this test know"
SOURCES, REQUESTS = 5, 1000


class Servers:
    """Two API processes and a worker on one database."""

    def __init__(self, folder: Path, database: str, redis: str) -> None:
        self.database, self.redis, self.ports = database, redis, free_ports(2)
        environment = os.environ | {
            "LONGLINE_DATA": str(folder),
            "LONGLINE_DATABASE": database,
            "LONGLINE_LOG_LEVEL": "warning",
            "AUTH_JWT_SECRET": SECRET,
        }
        environment |= {"LONGLINE_REDIS": redis} if redis else {}
        assert run_program("migrate", env=environment).returncode == 0
        self._log = (folder / "log").open("ab")
        commands = [*(["api", "--port", str(port)] for port in self.ports), ["worker", "--roles", "upkeep"]]
        self._running = [Program(words, environment, stdout=subprocess.DEVNULL, stderr=self._log) for words in commands]

    def stop(self) -> None:
        """End all processes."""
        for process in self._running:
            process.kill()
            process.wait()
        self._log.close()


@pytest.fixture(params=["memory", "redis"])
def servers(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: PostgresServer) -> Iterator[Servers]:
    """The processes, with a cache of their own or with that in Redis."""
    redis = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    with postgres_server.fresh_database() as url:
        found = Servers(tmp_path, url, redis)
        yield found
        found.stop()


class Caller:
    """A caller that picks either server at random; each request has a user of its own, since users have limits."""

    def __init__(self, client: httpx.AsyncClient, ports: list[int], seed: int) -> None:
        self._client, self._ports, self.random, self.sent = client, ports, random.Random(seed), 0
        self._tokens = Tokens(SECRET, lambda: int(time.time() * 1000))

    async def ask(self, method: str, path: str, body: Any = None, port: int = 0) -> httpx.Response:
        self.sent += 1
        address = f"http://127.0.0.1:{port or self.random.choice(self._ports)}/api/v1/admin/{path}"
        bearer = self._tokens.issue("admin", f"user{self.random.random()}", 3600)
        return await self._client.request(method, address, json=body, headers={"Authorization": f"Bearer {bearer}"})

    async def get(self, path: str) -> Any:
        return data(await self.ask("GET", path))

    async def get_at_both(self, path: str) -> list[Any]:
        """Return the answer of each server."""
        return [(await self.ask("GET", path, port=port)).json()["data"] for port in self._ports]

    async def listed(self, source_id: int) -> Json:
        answer = await self.ask("GET", "crawler/sources")
        [found] = [each for each in answer.json()["data"] if each["id"] == source_id]
        return dict(found)


@asynccontextmanager
async def calling(servers: Servers, seed: int) -> AsyncIterator[Caller]:
    async with httpx.AsyncClient(timeout=60) as client:
        caller = Caller(client, servers.ports, seed)
        async with asyncio.timeout(120):
            for port in servers.ports:
                while not await _answers(caller, port):  # noqa: ASYNC110 - a process starts
                    await asyncio.sleep(0.2)
        yield caller


async def _answers(caller: Caller, port: int) -> bool:
    try:
        return (await caller.ask("GET", "crawler/sources", port=port)).status_code == 200
    except httpx.TransportError:
        return False


async def _source(caller: Caller, name: str) -> Json:
    body = {"name": name, "slug": name, "baseurl": f"https://{name}.example"}
    found: Json = data(await caller.ask("POST", "crawler/sources", body), 201)
    return found


async def _change(caller: Caller, source: Json, number: int) -> None:
    """Change the config, and read the source at any server."""
    path = f"crawler/sources/{source['id']}"
    assert data(await caller.ask("PATCH", path, {"config": {"number": number}}))["config"] == {"number": number}
    found = await (caller.get(path) if caller.random.random() < 0.5 else caller.listed(source["id"]))
    assert found["config"] == {"number": number}


async def _switch(caller: Caller, source: Json, _: int) -> None:
    path, wanted = f"crawler/sources/{source['id']}", caller.random.random() < 0.5
    data(await caller.ask("PATCH", f"{path}/enable", {"isenabled": wanted}))
    for look in (path, f"{path}/health"):
        assert (await caller.get(look))["isenabled"] is wanted


async def _cancel(caller: Caller, source: Json, _: int) -> None:
    path = f"crawler/sources/{source['id']}"
    await caller.ask("PATCH", f"{path}/enable", {"isenabled": True})
    job = data(await caller.ask("POST", "crawler/jobs", {"sourceid": source["id"], "scheduledat": FAR}), 201)
    assert (await caller.get(f"{path}/health"))["jobs"]["queued"] == 1
    data(await caller.ask("PATCH", f"crawler/jobs/{job['id']}/cancel"))
    health = await caller.get(f"{path}/health")
    assert (health["jobs"]["queued"], health["lastjob"]["id"]) == (0, job["id"])


@pytest.mark.slow(reason="three processes, and two thousand requests")
async def test_no_caller_sees_its_own_write_late(servers: Servers):
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    async with calling(servers, seed) as caller:
        sources = [await _source(caller, f"s{n}") for n in range(SOURCES)]

        async def work(source: Json) -> None:
            number = 0
            while caller.sent < REQUESTS:
                number += 1
                await caller.random.choice((_change, _switch, _cancel))(caller, source, number)

        await asyncio.gather(*(work(source) for source in sources))
        assert caller.sent >= REQUESTS
        await _check_keys(caller, sources[0], servers.redis)


async def _check_keys(caller: Caller, source: Json, redis: str) -> None:
    """Check the keys and times of the contract, where there is Redis."""
    if not redis:
        return
    path = f"crawler/sources/{source['id']}"
    await asyncio.sleep(1)  # cached answers that others have changed are deleted by then
    for look in (path, f"{path}/health"):
        await caller.get(look)
    await caller.ask("GET", "crawler/sources")
    async with Redis.from_url(redis, decode_responses=True) as client:
        times = {f"crawler:source:{source['id']}": 120, f"crawler:source:{source['id']}:health": 30}
        for key, seconds in times.items():
            assert seconds - 10 < await client.ttl(key) <= seconds
        kept = await client.get(f"crawler:source:{source['id']}")
        assert json.loads(str(kept))["value"]["id"] == source["id"]
        assert str(await client.get("crawler:sources:list")).isdecimal()
        [page] = [key async for key in client.scan_iter("crawler:sources:list:*")]
        assert 50 < await client.ttl(page) <= 60
        await caller.ask("PATCH", path, {"config": {}})
        async with asyncio.timeout(5):
            while await client.exists(*times):  # noqa: ASYNC110 - another process removes them
                await asyncio.sleep(0.02)


class Stored:
    """The health of a source in the database."""

    def __init__(self, connection: Any, source_id: int) -> None:
        self._connection, self._source_id = connection, source_id

    async def read(self) -> tuple[int, bool]:
        query = "SELECT failures, enabled FROM sources WHERE id = $1"
        row = await self._connection.fetchrow(query, self._source_id)
        return row["failures"], row["enabled"]


@pytest.mark.slow(reason="three processes, and a job after the other")
async def test_an_outcome_of_another_process_is_seen_by_all_at_once(servers: Servers):
    """Both servers show each outcome in the database within a second and at the first read."""
    async with calling(servers, 1) as caller:
        source = await _source(caller, "site")
        path = f"crawler/sources/{source['id']}"
        connection: Any = await asyncpg.connect(servers.database)
        stored = Stored(connection, source["id"])
        try:
            for number in range(1, 11):
                if number == 6:
                    data(await caller.ask("PATCH", f"{path}/enable", {"isenabled": True}))
                failures = (number - 1) % 5 + 1
                # No extension: the worker refuses the job, which is a failure of the source.
                data(await caller.ask("POST", "crawler/jobs", {"sourceid": source["id"]}), 201)
                async with asyncio.timeout(60):
                    while (await stored.read())[0] != failures:
                        # Both caches are filled with the time before.
                        for look in (path, f"{path}/health", "crawler/sources"):
                            await caller.get_at_both(look)
                    while (await stored.read())[1] is not (failures < 5):  # noqa: ASYNC110 - the same transaction
                        await asyncio.sleep(0)
                for look in (path, f"{path}/health"):
                    for found in await caller.get_at_both(look):
                        assert (found["consecutivefails"], found["isenabled"]) == (failures, failures < 5), look
                for [found] in await caller.get_at_both("crawler/sources"):
                    assert found["consecutivefails"] == failures
        finally:
            await connection.close()
