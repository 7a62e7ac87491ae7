"""Moves of bots and their tasks."""

from collections.abc import Sequence

from longline.model.bots.bot import AnswerVerdict, BotAnswer, Deletion, NewBotTask, Planned, Pull, Pulled, Repair, Swept
from longline.ports.records import Records
from longline.ports.records.frontier import HostSetting


class BotLifecycle:
    """Carries out the moves of tasks that bots work on."""

    def __init__(self, records: Records) -> None:
        self._tasks = records.bot_tasks

    async def pull(self, pulls: Sequence[Pull]) -> list[Pulled]:
        """Put tasks into the hands of bots, in one commit."""
        return await self._tasks.pull(pulls)

    async def submit(self, answers: Sequence[BotAnswer], keep_ms: int) -> list[AnswerVerdict]:
        """Put tasks to rest as their bots say, in one commit; what comes without a lease changes nothing."""
        return await self._tasks.submit(answers, keep_ms)

    async def extend(self, task_id: int, created_at: int, bot: str) -> AnswerVerdict:
        """Let a bot's lease run anew."""
        return await self._tasks.extend(task_id, created_at, bot)

    async def sweep(self, limit: int = 1000, *, retry: bool = False, dry: bool = False) -> Swept:
        """Take tasks out of the hands of bots whose lease lapsed."""
        return await self._tasks.sweep(limit, retry=retry, dry=dry)

    async def repair(self, tasks: Sequence[tuple[int, int]], repair: Repair) -> int:
        """Move tasks, each (id, creation time), because a person says so; how many were moved."""
        return await self._tasks.repair(tasks, repair)

    async def delete(self, task_id: int, created_at: int) -> Deletion | None:
        """Delete a task that no bot holds, cancelling it if it is open; None when there is no such task."""
        return await self._tasks.delete(task_id, created_at)

    async def add(self, tasks: Sequence[NewBotTask], delay_ms: int) -> list[int]:
        """Make tasks of no schedule; their ids."""
        return await self._tasks.add(tasks, [HostSetting(task.host, delay_ms, 1) for task in tasks])

    async def plan(self, limit: int, delay_ms: int, *, dry: bool = False) -> Planned:
        """Make tasks for schedules that are due."""
        return await self._tasks.plan(limit, delay_ms, dry=dry)

    async def drop(self, uid: str) -> list[str] | None:
        """Forget a schedule and cancel what is open of it; the keys of its results' pages."""
        return await self._tasks.drop(uid)
