"""The loop of recrawls: makes their next generations, wakes children of parents that ended, and keeps holds.

A source may be switched by any API: the loop sets the holds of its runs after it.
"""

import logging

from longline.engine.lifecycle.runs import Call
from longline.engine.lifecycle.tasks import TaskLifecycle, TaskOrder
from longline.model.recrawls.hold import Hold
from longline.ports.records import Records

log = logging.getLogger(__name__)

BATCH_SIZE = 100
"""Number of recrawls that get their next generation in one transaction, and of parents that are looked at together."""

CHILDREN_AT_ONCE = 500


class Recrawler:
    """The loop of recrawls; several at once do each thing once."""

    def __init__(self, records: Records, tasks: TaskLifecycle, call_workers: Call | None = None) -> None:
        self._generations, self._holds, self._now = records.generations, records.holds, records.schema.now
        self._tasks, self._call_workers = tasks, call_workers

    async def once(self) -> int:
        """Do everything that is due; return the number of recrawls that became due."""
        ended = await self._holds.follow_switches() + await self._end_holds()
        woken = await self._wake_children()
        made = 0
        while count := await self._generations.succeed(BATCH_SIZE):
            made += count
        if made:
            log.info("next generations of recrawls made", extra={"recrawls": made})
        if (made or woken or ended) and self._call_workers is not None:
            await self._call_workers()
        return made + woken

    async def _end_holds(self) -> int:
        """End holds whose time is over, and add the next hold of each daily window; return how many ended."""
        ended = await self._holds.end_lapsed()
        windows = await self._holds.windows()
        if not windows:
            return ended
        held = {hold.run_id for hold in await self._holds.find() if hold.why == "maintenance"}
        now = await self._now()
        for window in windows:
            if window.run_id not in held:
                since, until = window.occurrence(now)
                await self._holds.hold(Hold(window.run_id, "maintenance", since, until))
        return ended

    async def _wake_children(self) -> int:
        """Wake the children of parents that completed, and cancel those of cancelled ones; return how many woke."""
        woken = 0
        for parent_id, rest in await self._generations.calls(BATCH_SIZE):
            while children := await self._generations.children(parent_id, CHILDREN_AT_ONCE):
                if rest == "cancelled":
                    await self._tasks.move_all(TaskOrder("cancel", "upkeep", "parent cancelled"), children)
                elif rest == "completed":
                    woken += await self._generations.wake(children)
                else:
                    break  # the parent was restarted meanwhile: its children go on waiting
            await self._generations.answered(parent_id)
        return woken
