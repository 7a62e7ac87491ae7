"""Runs: the standing ones, and the times of their last changes."""

import pytest

from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim_one, get_run, host_report, queued_run, report, url


@pytest.mark.parametrize("kind", RunKind)
async def test_a_standing_run_is_stored_once_for_each_seed(records: Records, peek: Peek, kind: RunKind):
    first = await records.runs.ensure(NewRun(new_id(), kind, "{}", "seed"))
    again = await records.runs.ensure(NewRun(new_id(), kind, "{}", "seed"))
    assert first.standing is again.standing is kind.standing
    assert await peek.value("SELECT COUNT(*) FROM runs") == (1 if kind.standing else 2)
    assert await peek.value("SELECT COUNT(*) FROM run_counts") == (1 if kind.standing else 2)
    assert await records.runs.replan(first.id, '{"depth":1}', None) is kind.standing


def test_bots_and_the_standing_frontier_stand():
    standing = {kind for kind in RunKind if kind.standing}
    assert standing == {kind for kind in RunKind if kind.value.startswith("frontier.")} | {
        RunKind.BOTS,
        RunKind.PRODUCTS,
        RunKind.IMAGES,
    }


async def test_moves_plans_and_counts_change_a_run(records: Records, clock: FakeClock):
    run = await queued_run(records)
    assert run.updated_at == run.created_at == clock.now()
    clock.advance(1.0)
    assert await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    assert (await get_run(records, run.id)).updated_at == clock.now()
    clock.advance(1.0)
    await records.runs.revise(run.id, '{"depth":2}', None)
    planned = clock.now()
    assert (await get_run(records, run.id)).updated_at == planned
    clock.advance(1.0)
    await admit(records, url(run), url(run, path="/2"))
    counted = await get_run(records, run.id)
    assert (counted.updated_at, counted.counted_at, counted.changed_at) == (planned, clock.now(), clock.now())
    clock.advance(1.0)
    await report(records, host_report(await claim_one(records)))
    ended = await get_run(records, run.id)
    assert (ended.state, ended.updated_at, ended.ended_at) == ("completed", clock.now(), clock.now())
