"""The cache of the contract (§11.1) with two servers: outcomes, the queue, and a cache that is down."""

import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from longline.wiring.subjects.runs import due_run_starter
from tests.servers import PostgresServer
from tests.surfaces.catalogue.running import Json, data, token
from tests.surfaces.products.running import Stage

FAR = "2099-01-01T00:00:00Z"


@pytest.fixture(params=["memory", "redis"])
def redis(request: pytest.FixtureRequest) -> str:
    """The address of Redis, or none."""
    return request.getfixturevalue("redis_url") if request.param == "redis" else ""


@pytest.fixture
def stages(redis: str, tmp_path: Path, postgres_server: PostgresServer) -> Iterator[list[Stage]]:
    """Two API servers on one database."""
    with postgres_server.fresh_database() as url:
        found = [Stage(tmp_path / name, url, redis=redis, jwt_secret="of both" * 8) for name in ("one", "two")]
        yield found
        for stage in found:
            stage.close()


class Caller:
    """A caller that uses both servers in turn; each request has a user of its own, since users have limits."""

    def __init__(self, stages: list[Stage], clients: list[httpx.AsyncClient], seed: int) -> None:
        self._stages, self._clients, self.random = stages, clients, random.Random(seed)

    async def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        number = self.random.randrange(len(self._clients))
        bearer = {"Authorization": f"Bearer {token(self._stages[number])}"}
        return await self._clients[number].request(method, f"/api/v1/admin/{path}", json=body, headers=bearer)

    async def get(self, path: str) -> Any:
        return data(await self.ask("GET", path))


@asynccontextmanager
async def calling(stages: list[Stage], seed: int = 1) -> AsyncIterator[Caller]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=stage.address, timeout=60)) for stage in stages
        ]
        yield Caller(stages, clients, seed)


async def _source(caller: Caller, name: str) -> Json:
    body = {"name": name, "slug": name, "baseurl": f"https://{name}.example"}
    found: Json = data(await caller.ask("POST", "crawler/sources", body), 201)
    return found


async def _listed(caller: Caller, source_id: int) -> Json:
    answer = await caller.ask("GET", "crawler/sources")
    [found] = [each for each in answer.json()["data"] if each["id"] == source_id]
    return dict(found)


async def test_acceptance_14_an_outcome_is_seen_within_a_second(stages: list[Stage]):
    async with calling(stages) as caller:
        source = await _source(caller, "site")
        path = f"crawler/sources/{source['id']}"
        for number in range(1, 6):
            data(await caller.ask("POST", "crawler/jobs", {"sourceid": source["id"]}), 201)
            for look in (path, f"{path}/health"):
                assert (await caller.get(look))["consecutivefails"] == number - 1
            await _listed(caller, source["id"])
            began = time.monotonic()
            # No extension: the run is refused, in a process that serves no API.
            stages[0].call(_fail(stages[0]))
            found = [await caller.get(path), await caller.get(f"{path}/health"), await _listed(caller, source["id"])]
            assert [each["consecutivefails"] for each in found] == [number] * 3
            assert [each["isenabled"] for each in found] == [number < 5] * 3
            assert time.monotonic() - began < 60


async def _fail(stage: Stage) -> None:
    await due_run_starter(stage.platform).once()


async def test_due_jobs_are_pushed_to_the_queue(stages: list[Stage], redis: str):
    async with calling(stages) as caller:
        now, later = await _source(caller, "now"), await _source(caller, "later")
        first = data(await caller.ask("POST", "crawler/jobs", {"sourceid": now["id"]}), 201)
        data(await caller.ask("POST", "crawler/jobs", {"sourceid": later["id"], "scheduledat": FAR}), 201)
        if redis:
            async with Redis.from_url(redis, decode_responses=True) as client:
                assert await client.lrange("crawler:queue", 0, -1) == [first["id"]]


async def test_a_server_without_its_cache_reads_the_database(tmp_path: Path):
    stage = Stage(tmp_path, redis="redis://127.0.0.1:1")
    try:
        async with calling([stage]) as caller:
            source = await _source(caller, "site")
            path = f"crawler/sources/{source['id']}"
            assert (await caller.get(path))["name"] == "site"
            assert (await caller.get(f"{path}/health"))["jobs"]["total"] == 0
            assert (await _listed(caller, source["id"]))["name"] == "site"
    finally:
        stage.close()
