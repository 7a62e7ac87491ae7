"""The pruner forgets what is too old or too many, and nothing that runs."""

import asyncio

import pytest

from longline.engine.schedules.pruner import RunPruner
from longline.model.discovery.candidate import Decision
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.engine.schedules.test_scheduler import planner, schedule, work


async def test_what_runs_is_never_forgotten(records: Records, clock: FakeClock):
    row = await schedule(records, interval_ms=60_000, due=clock.now())
    one = planner(records, clock)
    await one.poll()
    clock.advance(40 * 86_400)
    assert await RunPruner(records.history, records.candidates, clock).once() == 0
    await work(records)
    await one.follow()
    assert await RunPruner(records.history, records.candidates, clock).once() == 0, "it has ended just now"
    clock.advance(31 * 86_400)
    assert await RunPruner(records.history, records.candidates, clock).once() == 1
    assert await records.history.find(row.id) == []


async def test_what_a_forgotten_run_brought_stays(records: Records, clock: FakeClock):
    await schedule(records, interval_ms=60_000, due=clock.now())
    one = planner(records, clock)
    await one.poll()
    await work(records)
    await one.follow()
    clock.advance(31 * 86_400)
    assert await RunPruner(records.history, records.candidates, clock).once() == 1
    [run] = await records.runs.find()
    assert (run.completed, run.schedule_id) == (1, None)
    assert len(await records.tasks.find(run_id=run.id)) == 1


async def test_decisions_are_forgotten_with_the_runs_of_their_time(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longline.drivers.records.discovery.candidates.BATCH_SIZE", 2)
    for number in range(5):
        await records.candidates.note([Decision("a.example", f"https://a.example/{number}", "find", "why", 1)])
    clock.advance(29 * 86_400)
    await records.candidates.note([Decision("a.example", "https://a.example/new", "find", "why", 1)])
    pruner = RunPruner(records.history, records.candidates, clock)
    await pruner.once()
    assert len(await records.candidates.decisions("a.example", 10)) == 6
    clock.advance(2 * 86_400)
    await pruner.once()
    assert [one.url for one in await records.candidates.decisions("a.example", 10)] == ["https://a.example/new"]


async def test_of_several_pruners_each_run_is_forgotten_by_one(records: Records, clock: FakeClock):
    for number in range(20):
        await schedule(records, f"s{number}", interval_ms=60_000, due=clock.now())
    one = planner(records, clock)
    await one.poll()
    await work(records)
    await one.follow()
    clock.advance(31 * 86_400)
    forgotten = await asyncio.gather(*(RunPruner(records.history, records.candidates, clock).once() for _ in range(4)))
    assert sum(forgotten) == 20
