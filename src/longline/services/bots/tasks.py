"""Bots' tasks and results for people who look after them."""

import msgspec

from longline.engine.lifecycle.bots import BotLifecycle
from longline.model.bots.bot import (
    HOUR_MS,
    BotActivity,
    BotTaskRow,
    BotTotals,
    NewBotTask,
    PolicyStats,
    Repair,
    ResultFilter,
    ResultRow,
    TaskFilter,
)
from longline.model.errors import LonglineError, NotFound
from longline.model.ids import task_id_of
from longline.model.url import parse
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records import Records


class Dashboard(msgspec.Struct, frozen=True):
    """How the bots' work stands."""

    states: dict[str, int]
    retries: dict[int, int]
    bots: list[BotActivity]
    schedules: PolicyStats
    totals: BotTotals


class TaskHeld(LonglineError):
    """A task that a bot holds, so that it cannot be deleted."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"Job locked by {holder}, it cannot be deleted while it is locked")


class BotTasks:
    """Looks tasks up, makes single ones and repairs them."""

    def __init__(self, records: Records, blobs: Blobs, clock: Clock, delay_ms: int) -> None:
        self._look, self._bots, self._schedules = records.bot_look, records.bots, records.bot_schedules
        self._blobs, self._clock, self._delay_ms = blobs, clock, delay_ms
        self._lifecycle = BotLifecycle(records)

    async def add(self, url: str, priority: int, max_retries: int, lease_ms: int) -> BotTaskRow:
        """Make one task of no schedule."""
        host = parse(url).host
        await self._schedules.learn([(host, url)])
        task = NewBotTask(url, host, priority, max_retries, lease_ms)
        [task_id] = await self._lifecycle.add([task], self._delay_ms)
        row = await self._look.task(task_id)
        if row is None:
            raise NotFound(f"task {task_id} is gone")
        return row

    async def find(self, wanted: TaskFilter, *, limit: int, offset: int) -> list[BotTaskRow]:
        """Return tasks, newest first."""
        return await self._look.tasks(wanted, limit=limit, offset=offset)

    async def get(self, uuid: str) -> tuple[BotTaskRow, ResultRow | None]:
        """One task and what was found for it."""
        ids = task_id_of(uuid)
        row = await self._look.task(ids[0]) if ids else None
        if ids is None or row is None or row.created_at != ids[1]:
            raise NotFound(f"Job {uuid} not found")
        return row, await self._look.result(task_id=row.id)

    async def repair(self, uuids: list[str], repair: Repair) -> int:
        """Move tasks because a person says so; how many were moved. Ids that are nobody's are passed over."""
        known = [ids for uuid in uuids if (ids := task_id_of(uuid))]
        return await self._lifecycle.repair(known, repair)

    async def delete(self, uuid: str) -> None:
        """Delete a task and its result; raises `TaskHeld` while a bot holds it."""
        ids = task_id_of(uuid)
        deletion = await self._lifecycle.delete(*ids) if ids else None
        if deletion is None:
            raise NotFound(f"Job {uuid} not found")
        if deletion.holder is not None:
            raise TaskHeld(deletion.holder)
        if deletion.page_key is not None:
            await self._blobs.delete([deletion.page_key])

    async def results(self, wanted: ResultFilter, *, limit: int, offset: int) -> list[ResultRow]:
        """Return results, newest first."""
        return await self._look.results(wanted, limit=limit, offset=offset)

    async def result(self, uid: str) -> tuple[ResultRow, str | None]:
        """One result with the text of its page, if the bot sent one."""
        row = await self._look.result(uid=uid)
        if row is None:
            raise NotFound(f"Result {uid} not found")
        page = await self._blobs.get(row.page_key) if row.page_key else None
        return row, None if page is None else page.decode()

    async def dashboard(self) -> Dashboard:
        """Everything at one look; the bots' activity is that of the last hour, begun or ended."""
        since = self._clock.now() - HOUR_MS
        return Dashboard(
            await self._look.states(),
            await self._look.retries(),
            await self._bots.activity(since),
            await self._schedules.figures(),
            await self._bots.totals(since),
        )

    async def states(self) -> dict[str, int]:
        """How many tasks stand where."""
        return await self._look.states()
