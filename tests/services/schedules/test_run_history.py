"""Runs as a service."""

import pytest

from longline.engine.schedules.scheduler import STALE_LEASES
from longline.model.duration import DAY_MS
from longline.model.errors import NotFound
from longline.ports.records import Records
from longline.services.schedules.run_history import Runs
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import running_run
from tests.engine.schedules.test_scheduler import schedule, scheduler, work


@pytest.fixture
def runs(records: Records, clock: FakeClock) -> Runs:
    return Runs(records.history, records.schedules, records.counters, clock)


async def test_runs_without_a_schedule_are_not_found(runs: Runs, records: Records):
    run = await running_run(records)
    with pytest.raises(NotFound):
        await runs.get(run.uid)
    with pytest.raises(NotFound):
        await runs.record("nowhere")
    assert await runs.find("nowhere", 10, 0) == ([], 0)
    assert (await runs.figures()).record.total == 0


async def test_today_begins_at_midnight(runs: Runs, records: Records, clock: FakeClock):
    row = await schedule(records, interval_ms=60_000, due=clock.now())
    one = scheduler(records, clock)
    await one.poll()
    await work(records)
    await one.follow()
    assert (await runs.today()).crawled == 1
    found, total = await runs.find(row.uid, 10, 0)
    assert (total, (await runs.get(found[0].uid))[1].id) == (1, row.id)
    clock.advance((DAY_MS - clock.now() % DAY_MS) / 1000)
    assert (await runs.today()).crawled == 0


async def test_stale_leases_are_counted_since_the_start(runs: Runs, records: Records):
    await records.counters.add({STALE_LEASES: 3})
    assert (await runs.figures()).stale_leases == 3
    await runs.start_counting()
    assert (await runs.figures()).stale_leases == 0
    await records.counters.add({STALE_LEASES: 2})
    assert (await runs.figures()).stale_leases == 2
