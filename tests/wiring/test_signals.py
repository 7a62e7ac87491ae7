"""Calls between processes: heard at once, and no reason to fail."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from longline.model.errors import Unavailable
from longline.model.signal_topics import WORK_TOPIC
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform
from longline.wiring.signals import listener


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


async def test_a_call_for_work_is_heard_until_the_stop(platform: Platform):
    stop, calls = asyncio.Event(), asyncio.Queue[None]()
    running = asyncio.create_task(listener(platform, WORK_TOPIC, lambda: calls.put_nowait(None))(stop))
    async with asyncio.timeout(5):
        while calls.empty():
            await platform.signals.send(WORK_TOPIC, "now")
            await asyncio.sleep(0.01)
        stop.set()
        await running


async def test_a_listener_without_a_carrier_says_so_to_be_started_again(platform: Platform):
    deaf = msgspec.structs.replace(platform.settings, redis="redis://127.0.0.1:1/0")
    before = asyncio.all_tasks()
    async with open_platform(deaf) as silent:
        with pytest.raises(Unavailable, match=r"Redis at 127\.0\.0\.1:1"):
            await listener(silent, WORK_TOPIC, lambda: None)(asyncio.Event())
    assert asyncio.all_tasks() == before


async def test_a_listener_that_cannot_hear_stops_when_told(platform: Platform):
    deaf = msgspec.structs.replace(platform.settings, redis="redis://127.0.0.1:1/0")
    stop = asyncio.Event()
    stop.set()
    async with open_platform(deaf) as silent:
        await asyncio.wait_for(listener(silent, WORK_TOPIC, lambda: None)(stop), 5)
