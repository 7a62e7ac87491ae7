"""The starter of queued runs, on both engines."""

import asyncio

import pytest

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.runs import due_runs
from longline.engine.runs.due_runs import DueRunStarter
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import get_run, queued_run

PLAN = CrawlPlan(("https://a.example/", "https://b.example/")).text()


async def test_runs_are_started_once_by_several_starters(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(due_runs, "BATCH_SIZE", 2)
    runs = [await queued_run(records, plan=PLAN, due=clock.now()) for _ in range(5)]
    later = await queued_run(records, plan=PLAN, due=clock.now() + 1)
    starters = [DueRunStarter(Lifecycle(records), records.due_runs) for _ in range(3)]
    started = await asyncio.gather(*(starter.once() for starter in starters))
    while rest := await starters[0].once():
        started.append(rest)
    assert sum(started) == len(runs)
    assert [(r.state, r.admitted) for r in [await get_run(records, run.id) for run in runs]] == [("running", 2)] * 5
    assert (await get_run(records, later.id)).state == "queued"
    starts = [e for e in await records.events.find(limit=500) if (e.noun, e.move) == ("run", "start")]
    assert len(starts) == len(runs)


async def test_workers_are_called(records: Records, clock: FakeClock):
    calls = []

    async def call() -> None:
        calls.append(1)

    starter = DueRunStarter(Lifecycle(records, call_workers=call), records.due_runs)
    assert await starter.once() == 0
    assert calls == []
    await queued_run(records, plan=PLAN, due=clock.now())
    assert await starter.once() == 1
    assert calls == [1]


async def test_a_run_that_can_never_start_fails_with_the_reason_and_delays_no_other(records: Records, clock: FakeClock):
    plans = {
        "no seed": CrawlPlan(()).text(),
        "not valid: Object missing required field": "{}",
        "scheme": CrawlPlan(("ftp://a.example/",)).text(),
        "not valid: Input data was truncated": "{",
    }
    bad = {why: await queued_run(records, plan=plan, due=clock.now()) for why, plan in plans.items()}
    good = await queued_run(records, plan=PLAN, due=clock.now())
    assert await DueRunStarter(Lifecycle(records), records.due_runs).once() == 1
    assert (await get_run(records, good.id)).state == "running"
    for why, run in bad.items():
        row = await get_run(records, run.id)
        assert row.state == "failed"
        assert why in (row.error or ""), row.error
