"""The runner of maintenance tasks: it queues runs by cron, and carries out queued runs, each once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from longline.model.errors import LonglineError
from longline.model.maintenance.cron import Cron
from longline.model.maintenance.maintenance_run import (
    LEASE_MS,
    MaintenanceResult,
    MaintenanceRunRow,
    MaintenanceSchedule,
    MaintenanceState,
)
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import MaintenanceStore

log = logging.getLogger(__name__)

CANCELLATION_INTERVAL_SECONDS = 1.0

Work = Callable[[], Awaitable[MaintenanceResult]]


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """A maintenance task: its purpose, the cron expression it has by default, and its work."""

    key: str
    purpose: str
    cron: str
    work: Work


class MaintenanceRunner:
    """The runs of maintenance tasks; several processes may run them, each run is carried out once."""

    def __init__(self, tasks: Mapping[str, MaintenanceTask], store: MaintenanceStore, clock: Clock) -> None:
        self.tasks, self._store, self._clock = tasks, store, clock

    async def once(self) -> int:
        """Queue the runs that are due by cron, and carry out all queued runs; return how many."""
        await self._queue_due()
        done = 0
        while (run := await self._store.take(LEASE_MS)) is not None:
            await self.carry_out(run)
            done += 1
        return done

    async def schedules(self) -> dict[str, MaintenanceSchedule]:
        """Return the times of every task, stored or by default; the next time of a default is behind now."""
        stored = {each.task: each for each in await self._store.schedules()}
        now = self._clock.now()
        return {
            key: stored.get(key) or MaintenanceSchedule(key, task.cron, True, Cron.parse(task.cron).next_after(now))
            for key, task in self.tasks.items()
        }

    async def _queue_due(self) -> None:
        now, stored = self._clock.now(), {each.task: each for each in await self._store.schedules()}
        for key, schedule in (await self.schedules()).items():
            if key not in stored:
                await self._store.set_schedule(schedule)
            elif schedule.enabled and schedule.next_at <= now:
                await self._store.advance(schedule, Cron.parse(schedule.cron).next_after(now))

    async def carry_out(self, run: MaintenanceRunRow) -> MaintenanceRunRow | None:
        """Do the work of a running run, and note its end; return None for a run that was cancelled meanwhile."""
        task = self.tasks.get(run.task)
        if task is None:
            return await self._store.end(run.id, MaintenanceState.FAILED, MaintenanceResult(), "the task is not known")
        working = asyncio.ensure_future(task.work())
        try:
            result = await self._watched(run, working)
        except LonglineError as error:
            log.warning("maintenance task failed", extra={"task": run.task, "error": str(error)})
            return await self._store.end(run.id, MaintenanceState.FAILED, MaintenanceResult(), str(error))
        except Exception as error:  # a task that is broken must not stop the others
            log.exception("maintenance task failed", extra={"task": run.task})
            text = f"{type(error).__name__}: {error}"
            return await self._store.end(run.id, MaintenanceState.FAILED, MaintenanceResult(), text)
        if result is None:
            log.info("maintenance task cancelled", extra={"task": run.task})
            return None
        return await self._store.end(run.id, MaintenanceState.COMPLETED, result)

    async def _watched(
        self, run: MaintenanceRunRow, working: "asyncio.Future[MaintenanceResult]"
    ) -> MaintenanceResult | None:
        """Wait for the work; stop it, and return None, when its run is no longer running."""
        try:
            while True:
                done, _ = await asyncio.wait([working], timeout=CANCELLATION_INTERVAL_SECONDS)
                if done:
                    return working.result()
                found = await self._store.get(run.id)
                if found is None or found.state != MaintenanceState.RUNNING:
                    return None
        finally:
            if not working.done():
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
