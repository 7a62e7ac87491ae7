"""Tasks and results of bots, for operators."""

import msgspec

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.bots.bot import BotActivity, BotTotals
from longline.model.bots.bot_policy import PolicyStats
from longline.model.bots.bot_task import BotTaskRow, NewBotTask, Repair, ResultFilter, ResultRow, TaskFilter
from longline.model.duration import HOUR_MS
from longline.model.errors import LonglineError, NotFound
from longline.model.ids import task_id_of
from longline.model.urls.url import parse
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records import Records


class Dashboard(msgspec.Struct, frozen=True):
    """The figures of tasks, bots and their schedules."""

    states: dict[str, int]
    retries: dict[int, int]
    bots: list[BotActivity]
    schedules: PolicyStats
    totals: BotTotals


class RecentActivity(msgspec.Struct, frozen=True):
    """The figures of bots and their schedules that cost no count of tasks."""

    bots: list[BotActivity]
    schedules: PolicyStats
    totals: BotTotals


class TaskHeld(LonglineError):
    """The task cannot be deleted, because a bot holds it."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"the task is held by {holder}")
        self.holder = holder


class BotTasks:
    """Tasks of bots: looked up, made singly, repaired and deleted."""

    def __init__(self, records: Records, blobs: Blobs, clock: Clock, delay_ms: int) -> None:
        self._look, self._bots, self._schedules = records.bot_look, records.bots, records.bot_schedules
        self._blobs, self._clock, self._delay_ms = blobs, clock, delay_ms
        self._lifecycle = BotLifecycle(records)

    async def add(self, url: str, priority: int, max_retries: int, lease_ms: int) -> BotTaskRow:
        """Make one task without a schedule."""
        host = parse(url).host
        await self._schedules.add_urls([(host, url)])
        task = NewBotTask(url, host, priority, max_retries, lease_ms)
        [task_id] = await self._lifecycle.add([task], self._delay_ms)
        row = await self._look.task(task_id)
        if row is None:
            raise NotFound("task", task_id)
        return row

    async def find(self, wanted: TaskFilter, *, limit: int, offset: int) -> list[BotTaskRow]:
        """Return tasks, newest first."""
        return await self._look.tasks(wanted, limit=limit, offset=offset)

    async def get(self, uuid: str) -> tuple[BotTaskRow, ResultRow | None]:
        """Return a task and its result."""
        ids = task_id_of(uuid)
        row = await self._look.task(ids[0]) if ids else None
        if ids is None or row is None or row.created_at != ids[1]:
            raise NotFound("task", uuid)
        return row, await self._look.result(task_id=row.id)

    async def repair(self, uuids: list[str], repair: Repair) -> int:
        """Move tasks on a person's order; return the number moved. Unknown ids are skipped."""
        known = [ids for uuid in uuids if (ids := task_id_of(uuid))]
        return len(await self._lifecycle.repair(known, repair))

    async def delete(self, uuid: str) -> None:
        """Delete a task and its result; raises `TaskHeld` while a bot holds it."""
        ids = task_id_of(uuid)
        deletion = await self._lifecycle.delete(*ids) if ids else None
        if deletion is None:
            raise NotFound("task", uuid)
        if deletion.holder is not None:
            raise TaskHeld(deletion.holder)
        if deletion.page_key is not None:
            await self._blobs.delete([deletion.page_key])

    async def results(self, wanted: ResultFilter, *, limit: int, offset: int) -> list[ResultRow]:
        """Return results, newest first."""
        return await self._look.results(wanted, limit=limit, offset=offset)

    async def newest_results(self, before: str | None, limit: int) -> list[ResultRow]:
        """Return results, newest first, from behind the one with this id."""
        return await self._look.newest_results(before=before, limit=limit)

    async def result(self, uid: str) -> tuple[ResultRow, str | None]:
        """Return a result, and the text of its page if the bot sent one."""
        row = await self._look.result(uid=uid)
        if row is None:
            raise NotFound("result", uid)
        page = await self._blobs.get(row.page_key) if row.page_key else None
        return row, None if page is None else page.decode()

    async def dashboard(self) -> Dashboard:
        """Return all figures; the bots' activity covers the present clock hour and the one before."""
        since = self._clock.now() - HOUR_MS
        return Dashboard(
            await self._look.states(),
            await self._look.retries(),
            await self._bots.activity(since),
            await self._schedules.figures(),
            await self._bots.totals(since),
        )

    async def recent_activity(self) -> RecentActivity:
        """Return the figures that are kept by the hour and those of policies; no task is counted for them."""
        since = self._clock.now() - HOUR_MS
        return RecentActivity(
            await self._bots.activity(since), await self._schedules.figures(), await self._bots.totals(since)
        )

    async def states(self) -> dict[str, int]:
        """Return the number of tasks in each state."""
        return await self._look.states()
