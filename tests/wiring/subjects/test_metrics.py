import asyncio
from importlib import import_module

import pytest

from longline.model.metrics.metric import DATABASE_SECONDS, LEASES_LOST, histogram_values
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform
from longline.wiring.subjects.metrics import counting, needed_roles, operation

module = import_module("longline.wiring.subjects.metrics")


async def test_counts_are_stored_at_the_end_at_the_latest(settings: Settings):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with counting(platform):
            platform.metrics.add(LEASES_LOST, count=3)
        figures = await operation(platform).take()
        assert figures.counters[LEASES_LOST.key()] == 3
        assert set(histogram_values(DATABASE_SECONDS, figures.counters)) >= {("write",)}
        assert figures.free_disk_bytes > 0


async def stored_counts(platform: Platform) -> dict[str, int]:
    """Wait for the first counts in the database."""
    for _ in range(2000):
        if found := await platform.records.counters.all():
            return dict(found)
        await asyncio.sleep(0.02)
    raise TimeoutError


async def test_a_process_without_work_writes_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "FLUSH_INTERVAL_SECONDS", 0.01)
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with counting(platform):
            platform.metrics.add(LEASES_LOST)
            before = await stored_counts(platform)
            await asyncio.sleep(0.2)
            assert await platform.records.counters.all() == before, "counts of reads alone wait for the idle flush"
        await platform.metrics.flush(platform.records.counters)
        assert not platform.metrics.count_of(DATABASE_SECONDS, "write", "0"), "a flush is not counted"
        stored = await platform.records.counters.all()
        await platform.metrics.flush(platform.records.counters)
        await platform.metrics.flush(platform.records.counters)
        assert sum(stored.values()) < sum((await platform.records.counters.all()).values()), "the read above is counted"


async def test_an_idle_process_stores_the_durations_of_its_transactions_at_the_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "FLUSH_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(module, "IDLE_FLUSH_INTERVAL_SECONDS", 0.05)
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with counting(platform):
            assert await stored_counts(platform)


def test_a_platform_of_bots_needs_no_worker_that_fetches():
    assert needed_roles(Settings()) == {"fetch", "parse", "upkeep"}
    assert needed_roles(Settings(scheduler=False, frontier=False)) == {"upkeep"}
    assert needed_roles(Settings(scheduler=False, frontier=False, feeds=True)) == {"fetch", "parse", "upkeep"}
