"""Moves of recrawls by people."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from longline.engine.archive.page_reader import PageReader
from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.lifecycle.tasks import TaskResult
from longline.model.errors import IllegalMove, NotFound
from longline.model.states import TaskState
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.frontier.task_moves import TaskMoves
from longline.services.recrawls.recrawl_moves import PageMissing, RecrawlMoves
from longline.services.recrawls.recrawls import Recrawls
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.test_recrawls import fetch_all
from tests.drivers.records.recrawls.world import recrawl, shop, submit, submit_one
from tests.engine.fakes import part

Make = Callable[[Records, FakeClock], RecrawlMoves]


def moves_of(records: Records, clock: FakeClock, kind: type[TaskMoves] = TaskMoves) -> RecrawlMoves:
    runs = RecrawlRuns(records.runs, records.sources, clock, Registry())
    recrawls = Recrawls(records, runs, PolitenessKey())
    return RecrawlMoves(recrawls, kind(Lifecycle(records)), PageReader(records.pages, part(None)))


async def test_states_decide_which_moves_are_possible(records: Records, clock: FakeClock):
    moves, task_id = moves_of(records, clock), await submit_one(records, recrawl(await shop(records)))
    with pytest.raises(IllegalMove):
        await moves.resume(task_id)
    before, after = await moves.pause(task_id)
    assert (before.phase, after.phase) == ("ready", "paused")
    with pytest.raises(IllegalMove):
        await moves.pause(task_id)
    assert (await moves.resume(task_id))[1].phase == "ready"
    assert (await moves.cancel(task_id)).phase == (await moves.cancel(task_id)).phase == "cancelled"
    restarted = await moves.restart(task_id, priority=1, due_at=clock.now() + 5000)
    assert (restarted.phase, restarted.priority, restarted.due_at) == ("waiting", 100, clock.now() + 5000)
    before, after = await moves.prioritize(task_id, 10)
    assert (before.priority, after.priority) == (100, 1000)
    with pytest.raises(PageMissing):
        await moves.reparse(task_id)
    for move in (moves.pause, moves.resume, moves.cancel, moves.restart, moves.reparse):
        with pytest.raises(NotFound):
            await move(task_id + 99)


async def test_simultaneous_cancellations_all_succeed(records: Records, clock: FakeClock):
    moves, task_id = moves_of(records, clock), await submit_one(records, recrawl(await shop(records)))
    found = await asyncio.gather(*(moves.cancel(task_id) for _ in range(8)))
    assert {row.phase for row in found} == {"cancelled"}


class RestartedMeanwhile(TaskMoves):
    """Moves in which another person restarts each task right after its cancellation."""

    async def cancel(self, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        results = await super().cancel(task_ids, reason)
        await self.restart(task_ids)
        return results


async def test_a_cancellation_of_a_cancelled_recrawl_succeeds_though_a_restart_follows(
    records: Records, clock: FakeClock
):
    moves, task_id = moves_of(records, clock), await submit_one(records, recrawl(await shop(records)))
    await moves.cancel(task_id)
    moves = moves_of(records, clock, RestartedMeanwhile)
    assert (await moves.cancel(task_id)).phase == "ready"


async def test_failed_recrawls_are_restarted_oldest_first(records: Records, clock: FakeClock):
    moves, run = moves_of(records, clock), await shop(records)
    ids = []
    for number in range(3):
        ids.append(await submit_one(records, recrawl(run, f"/{number}")))
        clock.advance(60)
        await fetch_all(records, TaskState.FAILED, "http_4xx")
    await moves.restart(ids[0])
    clock.advance(60)
    await fetch_all(records, TaskState.FAILED, "http_4xx")
    await submit(records, recrawl(run, "/waits"))
    assert await moves.restart_failed(limit=2) == ids[1:], "the first one has failed again since"
    assert await moves.restart_failed(failed_after=clock.now() + 60_000) == []
    assert await moves.restart_failed(source_id=run.source_id) == ids[:1]
