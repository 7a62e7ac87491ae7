"""Moves of bots and their tasks."""

from collections.abc import Sequence

from longline.model.bots.bot_policy import Planned
from longline.model.bots.bot_task import AnswerVerdict, BotAnswer, Deletion, NewBotTask, Pull, Pulled, Repair, Swept
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting


class BotLifecycle:
    """The moves of tasks that bots work on."""

    def __init__(self, records: Records) -> None:
        self._tasks = records.bot_tasks

    async def pull(self, pulls: Sequence[Pull]) -> list[Pulled]:
        """Lease tasks to bots, in one commit."""
        return await self._tasks.pull(pulls)

    async def submit(self, answers: Sequence[BotAnswer], keep_ms: int) -> list[AnswerVerdict]:
        """Put tasks to rest by the answers of bots, in one commit; an answer without a lease changes nothing."""
        return await self._tasks.submit(answers, keep_ms)

    async def extend(self, task_id: int, created_at: int, bot: str) -> AnswerVerdict:
        """Restart a bot's lease at its full length."""
        return await self._tasks.extend(task_id, created_at, bot)

    async def sweep(self, limit: int = 1000, *, retry: bool = False, dry: bool = False) -> Swept:
        """Take back tasks of bots after the lease lapsed."""
        return await self._tasks.sweep(limit, retry=retry, dry=dry)

    async def repair(self, tasks: Sequence[tuple[int, int]], repair: Repair) -> list[int]:
        """Move tasks, each (id, creation time), on the order of a person; return the ids of the moved ones."""
        return await self._tasks.repair(tasks, repair)

    async def delete(self, task_id: int, created_at: int) -> Deletion | None:
        """Delete a task that no bot holds, cancelling an open task; return None when there is no task."""
        return await self._tasks.delete(task_id, created_at)

    async def add(self, tasks: Sequence[NewBotTask], delay_ms: int) -> list[int]:
        """Make tasks without a schedule; return their ids."""
        return await self._tasks.add(tasks, [HostSetting(task.host, delay_ms, 1) for task in tasks])

    async def plan(self, limit: int, delay_ms: int, *, dry: bool = False) -> Planned:
        """Make tasks for schedules that are due."""
        return await self._tasks.plan(limit, delay_ms, dry=dry)

    async def drop(self, uid: str) -> list[str] | None:
        """Delete a schedule and cancel its open tasks; return the keys of its results' pages."""
        return await self._tasks.drop(uid)
