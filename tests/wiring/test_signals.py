"""Signals between processes: received at once, and no reason to fail."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest

from longline.model.errors import Unavailable
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.signal_topics import WORK_TOPIC
from longline.model.sources.source import NewSource
from longline.settings import Settings
from longline.wiring.loops.loop_row import LoopParts
from longline.wiring.loops.worker import WORKER_LOOPS
from longline.wiring.platform import Platform, migrate_tables, open_platform
from longline.wiring.signals import listener
from longline.wiring.subjects.sources import recrawl_runs, source_service


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


async def test_a_work_signal_is_received_until_the_stop(platform: Platform):
    stop, calls = asyncio.Event(), asyncio.Queue[None]()
    running = asyncio.create_task(listener(platform, WORK_TOPIC, lambda: calls.put_nowait(None))(stop))
    async with asyncio.timeout(5):
        while calls.empty():
            await platform.signals.send(WORK_TOPIC, "now")
            await asyncio.sleep(0.01)
        stop.set()
        await running


async def test_a_listener_without_a_connection_fails_and_is_started_again(platform: Platform):
    deaf = msgspec.structs.replace(platform.settings, redis="redis://127.0.0.1:1/0")
    before = asyncio.all_tasks()
    async with open_platform(deaf) as silent:
        with pytest.raises(Unavailable, match=r"Redis at 127\.0\.0\.1:1"):
            await listener(silent, WORK_TOPIC, lambda: None)(asyncio.Event())
    assert asyncio.all_tasks() == before


async def test_a_listener_without_a_connection_ends_at_the_stop(platform: Platform):
    deaf = msgspec.structs.replace(platform.settings, redis="redis://127.0.0.1:1/0")
    stop = asyncio.Event()
    stop.set()
    async with open_platform(deaf) as silent:
        await asyncio.wait_for(listener(silent, WORK_TOPIC, lambda: None)(stop), 5)


@asynccontextmanager
async def listening(parts: LoopParts, name: str) -> AsyncIterator[None]:
    """Run the loop of a name."""
    stop = asyncio.Event()
    row = next(row for row in WORKER_LOOPS if row.name == name)
    running = asyncio.create_task(row.build(parts)(stop))
    await asyncio.sleep(0.1)
    try:
        yield
    finally:
        stop.set()
        await running


async def soon(done: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(3):
        while True:
            if await done():
                return
            await asyncio.sleep(0.01)


async def test_recrawls_follow_a_change_of_their_source_at_once(platform: Platform):
    source = await platform.records.sources.make(NewSource("shop.example", "https://shop.example/"))
    runs = recrawl_runs(platform)
    await runs.of(source.id)

    async def follow() -> bool:
        return (await runs.of(source.id)).plan.fetch.user_agents == ("New/2",)

    async with listening(LoopParts(platform, frozenset({"fetch"})), "settings signals"):
        await source_service(platform).change(source.id, lambda row: msgspec.structs.replace(row, user_agent="New/2"))
        await soon(follow)


async def test_no_request_goes_directly_after_a_proxy_was_assigned(platform: Platform):
    source = await platform.records.sources.make(NewSource("shop.example", "https://shop.example/"))
    parts, plan = LoopParts(platform, frozenset({"fetch"})), CrawlPlan((), source_id=source.id)
    rotation = parts.worker.proxies
    assert await rotation.next(plan, frozenset()) is None

    async def find() -> bool:
        return await rotation.next(plan, frozenset()) is not None

    async with listening(parts, "proxy signals"):
        proxy = await platform.proxies.add("http://192.0.2.1:3128")
        await platform.proxies.assign(source.id, [proxy.id])
        await soon(find)
