"""Orders of people for tasks of workers and of bots. Each is a move of the table, in the states where it is legal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.tasks import TaskOrder, TaskResult
from longline.model.bots.bot_task import Repair
from longline.model.errors import BadInput, IllegalMove, NotFound
from longline.model.frontier.frontier_lists import TaskExecutor
from longline.model.frontier.task import BOT
from longline.model.states import IN_HAND, TaskState, legal, move
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Prioritized
from longline.services.frontier.task_moves import MAX_TASKS_PER_CALL

OrderName = Literal["pending", "release", "expire", "pause", "resume", "restart", "reparse", "cancel"]


class OrderRule(msgspec.Struct, frozen=True):
    """An order: its move, the states to which it is kept, and the repair that carries it out with a bot's task."""

    move: str
    states: frozenset[str] | None = None
    keep_attempts: bool = False
    repair: Repair | None = None

    def move_from(self, state: str) -> str:
        """Return the move from a state: a page in a parser's hand goes back to the parsers, not to its site."""
        return "reparse" if self.move == "restart" and self.states and state == TaskState.PARSING else self.move

    def states_of(self, name: str) -> frozenset[str] | None:
        """Return the states from which the order makes this move; None for all that the table allows."""
        return None if self.states is None else frozenset(one for one in self.states if self.move_from(one) == name)

    def is_allowed(self, state: str) -> bool:
        """Return whether a person may give the order for a task in this state."""
        if self.states is not None and state not in self.states:
            return False
        return self.move_from(state) in legal("task", state, "person")


ORDERS: Mapping[OrderName, OrderRule] = {
    "pending": OrderRule("restart", keep_attempts=True, repair="restart"),
    "release": OrderRule("restart", frozenset(IN_HAND), keep_attempts=True, repair="release"),
    "expire": OrderRule("expire", repair="expire"),
    "pause": OrderRule("pause"),
    "resume": OrderRule("resume"),
    "restart": OrderRule("restart", repair="restart"),
    "reparse": OrderRule("reparse"),
    "cancel": OrderRule("cancel"),
}
"""All orders. `pending` and `release` go on counting attempts; `release` takes a task out of a hand."""


PAGE_ORDERS: frozenset[OrderName] = frozenset({"reparse"})
"""Orders for tasks with a page in the archive, and for no others."""


def orders_of(state: str, *, has_page: bool) -> list[OrderName]:
    """Return the orders that a person may give for a task in this state, with a page in the archive or without."""
    return [name for name, rule in ORDERS.items() if rule.is_allowed(state) and (has_page or name not in PAGE_ORDERS)]


class TaskOrders:
    """The orders that people give for chosen tasks. Each call returns one result for each task, in the given order."""

    def __init__(self, lifecycle: Lifecycle, bots: BotLifecycle, records: Records) -> None:
        self._tasks, self._bots, self._lists = lifecycle.tasks, bots, records.task_lists

    async def give(self, name: OrderName, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        """Carry out an order; each task is judged by itself."""
        _check(task_ids)
        rule = ORDERS[name]
        known = {task.id: task for task in await self._lists.executors(task_ids)}
        repaired = [task for task in known.values() if rule.repair is not None and task.executor == BOT]
        done = await self._repaired(rule, repaired)
        for order, ids in _grouped(rule, reason, [task for task in known.values() if task.id not in done]):
            done |= {result.task_id: result for result in await self._tasks.move_all(order, ids)}
        return [done.get(one) or TaskResult(one, None, None, NotFound("task", one)) for one in dict.fromkeys(task_ids)]

    async def prioritize(self, task_ids: Sequence[int], priority: int) -> list[Prioritized]:
        """Give tasks another priority, lower first; return the tasks that exist."""
        _check(task_ids)
        return await self._tasks.prioritize_all(task_ids, priority)

    async def _repaired(self, rule: OrderRule, tasks: Sequence[TaskExecutor]) -> dict[int, TaskResult]:
        """Move tasks of bots, which have leases and retries of their own."""
        if rule.repair is None or not tasks:
            return {}
        moved = await self._bots.repair([(task.id, task.created_at) for task in tasks], rule.repair)
        became = move("task", rule.move).became
        return {task.id: _result(task, became if task.id in moved else None, rule) for task in tasks}


def _grouped(
    rule: OrderRule, reason: str | None, tasks: Sequence[TaskExecutor]
) -> list[tuple[TaskOrder, Sequence[int]]]:
    """Return the moves that carry out an order, each with its tasks."""
    groups: dict[str, list[int]] = defaultdict(list)
    for task in tasks:
        groups[rule.move_from(task.state)].append(task.id)
    return [
        (TaskOrder(name, reason=reason, keep_attempts=rule.keep_attempts, only=rule.states_of(name)), ids)
        for name, ids in groups.items()
    ]


def _result(task: TaskExecutor, became: str | None, rule: OrderRule) -> TaskResult:
    if became is not None:
        return TaskResult(task.id, task.state, became)
    others = tuple(name for name in legal("task", task.state, "person") if name != rule.move)
    return TaskResult(task.id, task.state, None, IllegalMove("task", rule.move, task.state, others))


def _check(task_ids: Sequence[int]) -> None:
    if len(task_ids) > MAX_TASKS_PER_CALL:
        raise BadInput(f"name at most {MAX_TASKS_PER_CALL} tasks in one call, not {len(task_ids)}")
