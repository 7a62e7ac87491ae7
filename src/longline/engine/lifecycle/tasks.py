"""Moves and priorities of many tasks at once, and the tasks that moves take from workers."""

from collections.abc import Sequence

import msgspec

from longline.engine.lifecycle.runs import Call
from longline.model.errors import BadInput, IllegalMove, LonglineError, NotFound
from longline.model.frontier.task import ClaimedTask
from longline.model.states import ENDED, IN_HAND, Actor, TaskState, legal, move
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Prioritized, TaskChange, TaskMove

BATCH_SIZE = 500
"""Number of tasks that are moved in one transaction: their hosts wait for it, and on SQLite every other writer."""


class TaskOrder(msgspec.Struct, frozen=True):
    """A move for many tasks. `due` and `priority` are those of the tasks after the move.

    With `keep_attempts` a restart goes on counting the attempts of a task. `only` narrows the states that the table
    allows.
    """

    move: str
    actor: Actor = "person"
    reason: str | None = None
    due: int | None = None
    priority: int | None = None
    keep_attempts: bool = False
    only: frozenset[str] | None = None


class TaskResult(msgspec.Struct, frozen=True):
    """The result for one task: the state before and after the move, or the error that kept it where it was."""

    task_id: int
    was: str | None
    became: str | None
    error: LonglineError | None = None


class TaskLifecycle:
    """The moves of many tasks, in transactions of bounded size; each task is judged by itself."""

    def __init__(self, records: Records, call_workers: Call | None = None, call_schedulers: Call | None = None) -> None:
        self._store, self._call_workers, self._call_schedulers = records.task_moves, call_workers, call_schedulers

    async def move_all(self, order: TaskOrder, task_ids: Sequence[int]) -> list[TaskResult]:
        """Make one move with many tasks; return one result for each task, in the given order."""
        change, results = _change(order), list[TaskResult]()
        done_runs = False
        for batch in _batches(task_ids):
            moved, done = await self._store.move_all(change, batch)
            results += (_result(order, one) for one in moved)
            done_runs |= done
        if change.became not in ENDED | {TaskState.PAUSED} and any(one.became for one in results):
            await _call(self._call_workers)
        if done_runs:
            await _call(self._call_schedulers)
        return results

    async def prioritize_all(self, task_ids: Sequence[int], priority: int) -> list[Prioritized]:
        """Give tasks another priority; return the tasks that exist, with their former priorities.

        A waiting task moves in its queue; a task leased by a worker gets the priority when it next rests.
        """
        found: list[Prioritized] = []
        for batch in _batches(task_ids):
            found += await self._store.prioritize(dict.fromkeys(batch, priority))
        return found

    async def apply_priorities(self, limit: int) -> int:
        """Apply priorities to tasks that a worker lost without a report; return how many."""
        return await self._store.apply_priorities(limit)

    async def withdrawals(self, owner: int) -> dict[tuple[int, int], int]:
        """Return, by (host, token), how often moves took tasks from a worker."""
        return await self._store.withdrawals(owner)

    async def marked(self, claims: Sequence[tuple[int, int, ClaimedTask]]) -> set[tuple[int, int]]:
        """Return, by (task, due), the claims by host, token and task that still hold."""
        return await self._store.marked(claims)


def _batches(task_ids: Sequence[int]) -> list[list[int]]:
    """Return the ids, each once, in batches of one transaction."""
    ids = list(dict.fromkeys(task_ids))
    return [ids[start : start + BATCH_SIZE] for start in range(0, len(ids), BATCH_SIZE)]


async def _call(call: Call | None) -> None:
    if call is not None:
        await call()


def _change(order: TaskOrder) -> TaskChange:
    """Return the guarded change for an order; raise where the table has no such move for the actor."""
    rule = move("task", order.move)
    if order.actor not in rule.actors or rule.fenced or rule.became in IN_HAND:
        raise BadInput(f"a {order.actor} cannot {order.move} many tasks at once")
    return TaskChange(
        order.move,
        rule.was if order.only is None else rule.was & order.only,
        rule.became,
        order.actor,
        order.reason,
        due=order.due,
        priority=order.priority,
        keep_attempts=order.keep_attempts,
    )


def _result(order: TaskOrder, moved: TaskMove) -> TaskResult:
    return TaskResult(moved.task_id, moved.was, moved.became, None if moved.became else _error(order, moved))


def _error(order: TaskOrder, moved: TaskMove) -> LonglineError:
    """Return why a task was not moved."""
    if moved.was is None:
        return NotFound("task", moved.task_id)
    if moved.run_state is not None:
        return IllegalMove("run", "reopen", moved.run_state, legal("run", moved.run_state, order.actor))
    others = tuple(name for name in legal("task", moved.was, order.actor) if name != order.move)
    return IllegalMove(
        "task", order.move, f"{moved.was} without a stored page" if moved.without_page else moved.was, others
    )
