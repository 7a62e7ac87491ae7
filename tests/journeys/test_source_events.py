"""Source events from a real server of the Redis protocol to schedules, once each."""

import asyncio
import json
from functools import partial
from pathlib import Path

import msgspec
import pytest
from redis.asyncio import Redis

from longline.drivers.sources import redis_events
from longline.drivers.sources.redis_events import RedisSourceEvents
from longline.ports.sources import Delivery
from longline.services.sources.source_events import SourceEvent, SourceListener
from longline.settings import Settings
from longline.wiring.doors import intervals as wiring
from longline.wiring.doors.intervals import source_events_loop
from longline.wiring.platform import Platform, migrate_tables, open_platform
from tests.journeys.place import PATIENCE
from tests.surfaces.intervals.platform import open_door

SAID = {
    "event_id": "e1",
    "event_type": "SOURCE_CREATED",
    "source_id": "s1",
    "timestamp": "2026-01-01T00:00:00Z",
    "payload": {"name": "n", "url": "https://n.example/", "rate_limit": 10, "max_depth": 1, "enabled": True},
}
LOOKS = 3000
GONE = SAID | {"event_id": "e2", "event_type": "SOURCE_DELETED", "payload": {}}


async def hears(server: Redis) -> None:
    """Wait until a consumer reads the stream."""
    for _ in range(LOOKS):
        if await server.xinfo_groups("source-events"):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("nobody listens")


async def settles(platform: Platform, server: Redis, amount: int) -> None:
    """Wait until every event is settled, and there are that many schedules."""
    for _ in range(LOOKS):
        pending = await server.xpending("source-events", "crawler-workers")
        groups = await server.xinfo_groups("source-events")
        if not pending["pending"] and groups[0]["lag"] == 0 and len(await platform.records.schedules.find()) == amount:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"it never came to {amount} schedules: {pending}, {groups}")


class Dying(SourceListener):
    """A listener that dies after the effect of an event, and before its note."""

    async def _settles(self, delivery: Delivery) -> bool:
        event = msgspec.json.decode(delivery.body or b"", type=SourceEvent)
        await self._reactions[event.event_type](event)
        raise asyncio.CancelledError


async def test_25_a_listener_that_dies_after_an_effect_has_had_it_once(
    migrated_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = Settings(data=tmp_path, database=migrated_url, redis=redis_url, source_events=True, port=0)
    async with open_door(settings) as door, door.client() as client, Redis.from_url(redis_url) as server:
        source = (await client.post("/api/v1/sources", json={"name": "n", "url": "https://n.example/"})).json()["id"]
        await client.post("/api/v1/admin/sync-enabled-sources")
        [job] = (await client.get(f"/api/v1/jobs?source_id={source}")).json()["jobs"]
        said = SAID | {"event_type": "SOURCE_DISABLED", "source_id": source, "payload": {"reason": "x"}}
        await server.xadd("source-events", {"event": json.dumps(said)})
        with monkeypatch.context() as dying:
            dying.setattr(wiring, "SourceListener", Dying)
            await asyncio.wait_for(source_events_loop(door.platform)(asyncio.Event()), PATIENCE)
        path = f"/api/v1/jobs/{job['id']}"
        assert (await client.get(path)).json()["status"] == "paused"
        assert (await server.xpending("source-events", "crawler-workers"))["pending"] == 1, "it was not settled"
        assert (await client.post(f"{path}/resume")).json()["status"] == "scheduled"
        monkeypatch.setattr(redis_events, "RedisSourceEvents", partial(RedisSourceEvents, idle_ms=0))
        stop = asyncio.Event()
        hearing = asyncio.create_task(source_events_loop(door.platform)(stop))
        await settles(door.platform, server, 1)
        stop.set()
        await asyncio.wait_for(hearing, PATIENCE)
        assert (await client.get(path)).json()["status"] == "scheduled", "a person's word is not undone"


async def test_schedules_follow_each_event_once(migrated_url: str, redis_url: str, tmp_path: Path):
    settings = Settings(data=tmp_path, database=migrated_url, redis=redis_url, source_events=True)
    async with open_platform(settings) as platform, Redis.from_url(redis_url) as server:
        await migrate_tables(platform, may_migrate=True)
        stop = asyncio.Event()
        await server.xadd("source-events", {"event": json.dumps(SAID)})
        hearing = asyncio.create_task(source_events_loop(platform)(stop))
        await hears(server)
        await settles(platform, server, 1)
        try:
            for said in (SAID, GONE, SAID):
                await server.xadd("source-events", {"event": json.dumps(said)})
            await settles(platform, server, 0)
        finally:
            stop.set()
            await asyncio.wait_for(hearing, PATIENCE)
