"""Moves of tasks by people, many at once: pause, resume, cancel, restart, parse again, and priorities."""

from collections.abc import Sequence

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.tasks import TaskOrder, TaskResult
from longline.model.errors import BadInput
from longline.ports.records.frontier.frontier import Prioritized

MAX_TASKS_PER_CALL = 10_000
"""Largest number of tasks in one call."""


class TaskMoves:
    """The moves that people make with tasks. Each call returns one result for each task, in the given order."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._tasks = lifecycle.tasks

    async def pause(self, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        """Pause tasks; attempts and the last error are kept."""
        return await self._move_all(TaskOrder("pause", reason=reason), task_ids)

    async def resume(self, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        """Resume paused tasks, which are due at once; their attempts are counted on."""
        return await self._move_all(TaskOrder("resume", reason=reason), task_ids)

    async def cancel(self, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        """Cancel tasks in any state but cancelled ones."""
        return await self._move_all(TaskOrder("cancel", reason=reason), task_ids)

    async def restart(
        self,
        task_ids: Sequence[int],
        *,
        keep_attempts: bool = False,
        due: int | None = None,
        priority: int | None = None,
        reason: str | None = None,
        only: frozenset[str] | None = None,
    ) -> list[TaskResult]:
        """Fetch tasks in any state, or in one of `only`, again, from attempt 1 unless attempts are kept.

        `due` is in UTC milliseconds.
        """
        order = TaskOrder("restart", reason=reason, due=due, priority=priority, keep_attempts=keep_attempts, only=only)
        return await self._move_all(order, task_ids)

    async def reparse(
        self, task_ids: Sequence[int], *, keep_attempts: bool = False, reason: str | None = None
    ) -> list[TaskResult]:
        """Parse stored pages again, without a request."""
        return await self._move_all(TaskOrder("reparse", reason=reason, keep_attempts=keep_attempts), task_ids)

    async def make(self, name: str, task_ids: Sequence[int], reason: str | None = None) -> list[TaskResult]:
        """Make the move of this name; raise `BadInput` for one that people do not make with many tasks."""
        return await self._move_all(TaskOrder(name, reason=reason), task_ids)

    async def prioritize(self, task_ids: Sequence[int], priority: int) -> list[Prioritized]:
        """Give tasks another priority, lower first; return the tasks that exist.

        A waiting task moves at once. A task leased by a worker is finished first, and has the priority from then on.
        """
        _check(task_ids)
        return await self._tasks.prioritize_all(task_ids, priority)

    async def _move_all(self, order: TaskOrder, task_ids: Sequence[int]) -> list[TaskResult]:
        _check(task_ids)
        return await self._tasks.move_all(order, task_ids)


def _check(task_ids: Sequence[int]) -> None:
    if len(task_ids) > MAX_TASKS_PER_CALL:
        raise BadInput(f"name at most {MAX_TASKS_PER_CALL} tasks in one call, not {len(task_ids)}")
