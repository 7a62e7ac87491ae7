"""The scheduler as part of a platform: the source of its sources, and the release of its leases at the stop."""

import asyncio
import time
from contextlib import nullcontext

import msgspec
import pytest
from redis.asyncio import Redis

from longline.engine.sources.remote_source_lookup import RemoteSources
from longline.engine.sources.source_lookup import LocalSources
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleSpec
from longline.model.sources.source import NewSource
from longline.settings import Settings
from longline.wiring.doors.intervals import interval_services, source_events_loop
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.subjects.schedules import schedule_services, scheduler_loop
from longline.wiring.subjects.sources import directory


async def test_the_setting_decides_the_service_that_sources_are_read_from(settings: Settings):
    async with open_platform(settings) as platform:
        assert isinstance(directory(platform), LocalSources)
    elsewhere = msgspec.structs.replace(settings, sources_url="http://127.0.0.1:1/api/v1/sources", scheduler=False)
    async with open_platform(elsewhere) as platform:
        assert isinstance(directory(platform), RemoteSources)
        assert interval_services(platform).scheduler.is_on is False


async def test_started_schedules_are_released_at_the_stop_and_keep_their_runs(settings: Settings):
    quick = msgspec.structs.replace(settings, poll=0.05)
    async with open_platform(quick) as platform:
        await migrate_tables(platform, may_migrate=True)
        source = await platform.records.sources.add(NewSource("a", "https://a.example/"))
        terms = ScheduleSpec(url=source.base_url, source_ref=source.public_id)
        row = await platform.records.schedules.add(NewSchedule(new_id(), terms.url, next_due=0, terms=terms))
        stop = asyncio.Event()
        running = asyncio.create_task(scheduler_loop(platform, 1)(stop))
        async with asyncio.timeout(60):
            while not await platform.records.history.find(row.id):
                await platform.clock.sleep(0.01)
            stop.set()
            await running
        found = await platform.records.schedules.get(row.id)
        [run] = await platform.records.history.find(row.id)
    assert found is not None
    assert (found.state, found.owner, run.state, run.error) == ("running", None, "running", None)
    assert found.lease_until is not None
    assert found.lease_until < time.time_ns() // 1_000_000, "the next scheduler adopts the schedule at once"


@pytest.fixture(params=["one process", "two by PostgreSQL", "two by Redis"])
def many(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    """A platform for one process, or for several."""
    if request.param == "one process":
        return settings
    changes = {"database": request.getfixturevalue("wiped_home")}
    if request.param == "two by Redis":
        changes["redis"] = request.getfixturevalue("redis_url")
    return msgspec.structs.replace(settings, **changes)


async def test_a_due_schedule_is_started_at_once_and_not_at_the_next_poll(many: Settings):
    seldom = msgspec.structs.replace(many, poll=3600.0)
    alone = seldom.database.startswith("sqlite")
    async with (
        open_platform(seldom) as platform,
        open_platform(seldom) if not alone else nullcontext(platform) as other,
    ):
        await migrate_tables(platform, may_migrate=True)
        source = await platform.records.sources.add(NewSource("a", "https://a.example/"))
        stop, made = asyncio.Event(), list[ScheduleRow]()
        running = asyncio.create_task(scheduler_loop(platform, 1)(stop))
        async with asyncio.timeout(60):
            while "polled_at" not in await platform.records.counters.all():
                await platform.clock.sleep(0.01)
            while not [row for row in made if await platform.records.history.find(row.id)]:
                spec = ScheduleSpec(url=source.base_url, source_ref=source.public_id)
                schedules, _ = schedule_services(other, other.records)
                made.append(await schedules.make(spec))
                await platform.clock.sleep(0.05)
            stop.set()
            await running


async def test_a_source_event_that_is_delivered_twice_makes_one_schedule(settings: Settings, redis_url: str):
    listening = msgspec.structs.replace(settings, redis=redis_url, source_events=True)
    said = {"name": "n", "url": "https://n.example/", "rate_limit": 10, "enabled": True}
    event = {"event_id": "e1", "event_type": "SOURCE_CREATED", "source_id": "abc", "payload": said}
    client = Redis.from_url(redis_url)
    async with open_platform(listening) as platform:
        await migrate_tables(platform, may_migrate=True)
        stop = asyncio.Event()
        running = asyncio.create_task(source_events_loop(platform)(stop))
        for _ in range(2):
            await client.xadd("source-events", {"event": msgspec.json.encode(event)})
        async with asyncio.timeout(60):
            while not await platform.records.handled_messages.has("e1"):
                await platform.clock.sleep(0.01)
            stop.set()
            await running
        [row] = await platform.records.schedules.find()
        assert (row.source_ref, row.automatic) == ("abc", True)
    await client.aclose()
