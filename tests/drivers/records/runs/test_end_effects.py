"""The outbox of run ends, on both engines."""

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules
from longline.model.runs.run import RunRow
from longline.model.sources.source import NewSource, SourceRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    admit,
    claim_one,
    ended,
    host_report,
    queued_run,
    report,
    running_run,
    url,
)

KINDS = (RunEffectKind.SOURCE_HEALTH,)
TTL = 10_000
PLAN = CrawlPlan(
    ("https://a.example/",), end=EndRules("all", (PlannedEffect(RunEffectKind.SOURCE_HEALTH, "detail"),))
).text()


async def source(records: Records) -> SourceRow:
    return await records.sources.add(NewSource("a", "https://a.example/"))


async def end(records: Records, source_id: int, became: TaskState = TaskState.COMPLETED) -> RunRow:
    """End a run of a source by its only task; return it."""
    run = await running_run(records, plan=PLAN, source_id=source_id)
    await admit(records, url(run))
    lease = await claim_one(records)
    outcomes = [ended(task, became, "ok" if became == TaskState.COMPLETED else "dns") for task in lease.tasks]
    await report(records, host_report(lease, outcomes))
    return run


async def take(records: Records) -> list[RunEffect]:
    return await records.run_effects.take(KINDS, 10, TTL)


async def test_an_end_adds_its_effects_with_the_facts_of_the_end(records: Records, clock: FakeClock):
    of = await source(records)
    run = await end(records, of.id, TaskState.FAILED)
    assert await records.run_effects.waiting() == {"source_health": 1}
    [effect] = await take(records)
    assert (effect.run_id, effect.run_uid, effect.source_id, effect.detail) == (run.id, run.uid, of.id, "detail")
    assert (effect.state, effect.error, effect.ended_at, effect.attempt) == ("failed", "dns", clock.now(), 1)


@pytest.mark.parametrize(
    ("was", "move", "state"),
    [("queued", "refuse", "failed"), ("queued", "cancel", "cancelled"), ("running", "cancel", "cancelled")],
)
async def test_every_way_to_end_adds_the_effects(records: Records, was: str, move: str, state: str):
    run = await (queued_run if was == "queued" else running_run)(records, plan=PLAN)
    await records.moves.apply(Change("run", run.id, move, was, state, "person"))
    assert [(e.run_id, e.state) for e in await take(records)] == [(run.id, state)]


async def test_a_taken_effect_is_not_taken_again_before_its_lease_lapses(records: Records, clock: FakeClock):
    await end(records, (await source(records)).id)
    [first] = await take(records)
    assert await take(records) == []
    clock.advance(TTL / 1000)
    [second] = await take(records)
    assert (second.id, second.attempt) == (first.id, 2)
    assert not await records.run_effects.finish(first), "the lease of the first is lost"
    assert await records.run_effects.finish(second)
    assert await records.run_effects.waiting() == {}


async def test_a_failed_effect_waits_for_its_retry(records: Records, clock: FakeClock, peek: Peek):
    await end(records, (await source(records)).id)
    [effect] = await take(records)
    assert await records.run_effects.put_back(effect, 5_000, "no route")
    assert not await records.run_effects.put_back(effect, 5_000, "no route"), "the effect was given back"
    assert await peek.value("SELECT last_error FROM run_effects") == "no route"
    clock.advance(4.9)
    assert await take(records) == []
    clock.advance(0.1)
    assert [e.attempt for e in await take(records)] == [2]


async def test_health_is_noted_once_and_the_effect_is_deleted(records: Records, clock: FakeClock):
    of = await source(records)
    for became in (TaskState.FAILED, TaskState.FAILED):
        await end(records, of.id, became)
        clock.advance(2)
    for effect in await take(records):
        assert await records.run_effects.note_health(effect)
        assert not await records.run_effects.note_health(effect)
    row = await records.sources.get(of.id)
    assert row is not None
    assert (row.failures, row.failed_at, row.succeeded_at) == (2, clock.now() - 2_000, None)
    await end(records, of.id)
    [good] = await take(records)
    await records.run_effects.note_health(good)
    row = await records.sources.get(of.id)
    assert row is not None
    assert (row.failures, row.succeeded_at) == (0, clock.now())


async def test_the_latest_end_decides_for_every_order_of_the_effects(records: Records, clock: FakeClock):
    of = await source(records)
    for became in (TaskState.FAILED, TaskState.COMPLETED, TaskState.FAILED):
        await end(records, of.id, became)
        clock.advance(2)
    for effect in reversed(await take(records)):
        await records.run_effects.note_health(effect)
    row = await records.sources.get(of.id)
    assert row is not None
    assert row.failures == 1
    assert row.failed_at is not None
    assert row.succeeded_at is not None
    assert row.failed_at > row.succeeded_at


async def test_a_cancelled_run_does_not_change_the_health_of_its_source(records: Records):
    of = await source(records)
    run = await running_run(records, plan=PLAN, source_id=of.id)
    await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    [effect] = await take(records)
    assert await records.run_effects.note_health(effect)
    assert await records.sources.get(of.id) == of


async def test_a_run_that_ends_twice_has_effects_twice(records: Records):
    run = await end(records, (await source(records)).id, TaskState.FAILED)
    [task] = await records.tasks.find(run_id=run.id)
    await records.moves.apply(Change("task", task.id, "restart", "failed", "pending", "person"))
    await report(records, host_report(await claim_one(records)))
    assert [e.state for e in await take(records)] == ["failed", "completed"]


async def test_a_refused_report_adds_no_effect(records: Records):
    run = await running_run(records, plan=PLAN)
    await admit(records, url(run))
    lease = await claim_one(records)
    await report(records, host_report(lease))
    assert (await report(records, host_report(lease))).refused
    assert await records.run_effects.waiting() == {"source_health": 1}
