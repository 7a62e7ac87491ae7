"""Moves of tasks by people, as doors request them."""

from collections.abc import Awaitable, Callable

import pytest

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.tasks import TaskResult
from longline.model.errors import BadInput
from longline.model.frontier.retries import state_after
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.frontier.task_moves import MAX_TASKS_PER_CALL, TaskMoves
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim_one, ended, host_report, report, running_run, urls

MAX_ATTEMPTS = 4


@pytest.fixture
def moves(records: Records) -> TaskMoves:
    return TaskMoves(Lifecycle(records))


async def one_task(records: Records) -> int:
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 1))
    [task] = await records.tasks.find(run_id=run.id)
    return task.id


async def fail(records: Records, clock: FakeClock, times: int) -> list[tuple[int, str]]:
    """Report failed attempts as workers do; return each attempt with the state after it."""
    told = []
    for _ in range(times):
        clock.advance(3600)
        lease = await claim_one(records)
        [task] = lease.tasks
        became = state_after("http_5xx", task.attempt, MAX_ATTEMPTS)
        await report(records, host_report(lease, [ended(task, became, "http_5xx", error="too slow")]))
        told.append((task.attempt, str(became)))
    return told


async def test_a_pause_keeps_the_number_of_attempts(records: Records, moves: TaskMoves, clock: FakeClock):
    task_id = await one_task(records)
    assert await fail(records, clock, 2) == [(1, "pending"), (2, "pending")]
    assert [(r.was, r.became) for r in await moves.pause([task_id])] == [("pending", "paused")]
    paused = await records.tasks.get(task_id)
    assert paused is not None
    assert (paused.error, paused.attempt) == ("too slow", 2)
    assert [(r.was, r.became) for r in await moves.resume([task_id])] == [("paused", "pending")]
    assert await fail(records, clock, 2) == [(3, "pending"), (4, "failed")]


async def test_a_restart_resets_or_keeps_attempts(records: Records, moves: TaskMoves, clock: FakeClock):
    task_id = await one_task(records)
    assert (await fail(records, clock, 4))[-1] == (4, "failed")
    await moves.restart([task_id])
    assert (await fail(records, clock, 4))[-1] == (4, "failed")
    await moves.restart([task_id], keep_attempts=True)
    assert await fail(records, clock, 1) == [(5, "failed")], "one more attempt is the last"


async def test_a_restart_with_a_due_time_and_a_priority(records: Records, moves: TaskMoves, clock: FakeClock):
    task_id = await one_task(records)
    due = clock.now() + 7_200_000
    await moves.restart([task_id], due=due, priority=3)
    task = await records.tasks.get(task_id)
    assert task is not None
    assert (task.state, task.due, task.priority) == ("pending", due, 3)


async def test_a_cancelled_task_is_not_cancelled_again(records: Records, moves: TaskMoves):
    task_id = await one_task(records)
    [first] = await moves.cancel([task_id], "not wanted")
    [second] = await moves.cancel([task_id])
    assert (first.became, second.became) == (TaskState.CANCELLED, None)
    assert str(second.error) == "cannot cancel a task that is cancelled; legal now: restart, reparse"


async def test_the_new_priority_of_a_claimed_task_is_applied_at_its_rest(
    records: Records, moves: TaskMoves, clock: FakeClock
):
    task_id = await one_task(records)
    lease = await claim_one(records)
    [changed] = await moves.prioritize([task_id], 2)
    assert (changed.was, changed.became, changed.at_next_rest) == (500, 2, True)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.PENDING, "timeout")]))
    clock.advance(60)
    assert (await claim_one(records)).tasks[0].priority == 2


@pytest.mark.parametrize("name", ["pause", "resume", "cancel", "restart", "reparse"])
async def test_too_many_tasks_are_refused_before_any_is_moved(moves: TaskMoves, name: str):
    act: Callable[[list[int]], Awaitable[list[TaskResult]]] = getattr(moves, name)
    with pytest.raises(BadInput, match="name at most 10000 tasks in one call, not 10001"):
        await act(list(range(MAX_TASKS_PER_CALL + 1)))
    with pytest.raises(BadInput, match="at most"):
        await moves.prioritize(list(range(MAX_TASKS_PER_CALL + 1)), 1)
