"""Twenty open pages of every live kind: statements of a tick do not grow with the pages, and doors keep their share."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx
import pytest

from longline.console.live_updates import MAX_PAGES, LivePages
from longline.settings import Settings
from tests.console.measure_pages import recorded_statements
from tests.console.scene import make_scene
from tests.console.visiting import log_in
from tests.servers import PostgresServer
from tests.surfaces.intervals.platform import Door, open_door

PAGES, TICK_SECONDS = 20, 1.0
WATCHED_SECONDS = 6.0


@pytest.fixture
async def door(postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    """A platform on PostgreSQL with a tick of a second for its pages."""
    monkeypatch.setattr("longline.wiring.doors.streams.LivePages", partial(LivePages, tick_seconds=TICK_SECONDS))
    with postgres_server.fresh_database() as url:
        async with open_door(Settings(data=tmp_path / "data", database=url, port=0)) as opened:
            yield opened


async def stream_paths(door: Door) -> dict[str, str]:
    """Return a stream of each live page."""
    run = await make_scene(door.platform.records)
    return {
        "overview": "/console/stream",
        "runs": f"/console/runs/stream?shown={run.id},{run.id + 1}&announces=true",
        "run": f"/console/runs/{run.id}/stream",
        "alerts": "/console/alerts/stream",
    }


async def statements(door: Door, path: str, pages: int) -> Counter[str]:
    """Return the statements sent while that many pages of one kind were open, for that many ticks."""
    async with AsyncExitStack() as stack, log_in(door) as client:
        for _ in range(pages):
            answer = await stack.enter_async_context(client.stream("GET", path))
            assert answer.status_code == 200
            await anext(answer.aiter_raw())
        await asyncio.sleep(2 * TICK_SECONDS)
        with recorded_statements() as sent:
            await asyncio.sleep(WATCHED_SECONDS)
        return Counter(name for name, _ in sent)


@pytest.mark.slow("streams are watched for seconds")
@pytest.mark.parametrize("page", ["overview", "runs", "run", "alerts"])
async def test_statements_do_not_grow_with_the_pages(door: Door, page: str):
    path = (await stream_paths(door))[page]
    one, many = await statements(door, path, 1), await statements(door, path, PAGES)
    ticks = WATCHED_SECONDS / TICK_SECONDS + 2
    for name, count in many.items():
        assert count <= max(2 * one[name], ticks * 2), (name, one[name], count)
    assert sum(many.values()) <= 1.5 * sum(one.values()) + 20


@pytest.mark.slow("streams are watched for seconds")
async def test_forgotten_pages_leave_the_streams_of_the_doors_alone(door: Door):
    path = (await stream_paths(door))["alerts"]
    async with AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        client = await stack.enter_async_context(log_in(door))
        crowd = await stack.enter_async_context(
            httpx.AsyncClient(base_url=door.address, cookies=client.cookies, timeout=60, limits=limits)
        )
        for _ in range(MAX_PAGES):
            answer = await stack.enter_async_context(crowd.stream("GET", path))
            assert answer.status_code == 200
        async with crowd.stream("GET", path) as refused:
            assert refused.status_code == 503
        async with door.client() as api, api.stream("GET", "/sse/health/events") as stream:
            assert stream.status_code == 200, "a door's stream has a seat"
        assert (await client.get("/console/alerts")).status_code == 200
