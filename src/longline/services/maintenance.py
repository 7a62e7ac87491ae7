"""Maintenance tasks: ordered, cancelled, scheduled and looked up."""

from collections.abc import Sequence

import msgspec

from longline.engine.maintenance import MaintenanceRunner, MaintenanceTask
from longline.model.callers.caller import Caller
from longline.model.errors import Conflict, NotFound
from longline.model.maintenance.cron import Cron
from longline.model.maintenance.maintenance_run import (
    LEASE_MS,
    MaintenanceRunRow,
    MaintenanceSchedule,
    MaintenanceState,
)
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import MaintenanceStore


class TaskOverview(msgspec.Struct, frozen=True):
    """A task with its times and its newest run."""

    key: str
    purpose: str
    schedule: MaintenanceSchedule
    last: MaintenanceRunRow | None


class Maintenance:
    """The maintenance tasks of the platform."""

    def __init__(self, runner: MaintenanceRunner, store: MaintenanceStore, clock: Clock) -> None:
        self._runner, self._store, self._clock = runner, store, clock

    async def tasks(self) -> Sequence[TaskOverview]:
        """Return every task, by key."""
        schedules, last = await self._runner.schedules(), await self._store.latest(list(self._runner.tasks))
        return [
            TaskOverview(key, task.purpose, schedules[key], last.get(key))
            for key, task in sorted(self._runner.tasks.items())
        ]

    async def order(self, key: str, caller: Caller | None) -> MaintenanceRunRow:
        """Queue a run of a task; raise `NotFound` for an unknown task, `Conflict` while a run of it is open."""
        return await self._add(key, caller, MaintenanceState.QUEUED)

    async def run_now(self, key: str, caller: Caller | None) -> MaintenanceRunRow:
        """Run a task in this process, and return its run after the end; raise as `order` does."""
        run = await self._add(key, caller, MaintenanceState.RUNNING)
        await self._runner.carry_out(run)
        return await self._store.get(run.id) or run

    async def cancel(self, key: str) -> MaintenanceRunRow:
        """Cancel the open run of a task; raise `NotFound` for an unknown task, `Conflict` without an open run."""
        self._task(key)
        found = await self._store.cancel(key)
        if found is None:
            raise Conflict(f"no run of {key} is open")
        return found

    async def reschedule(self, key: str, cron: str | None, enabled: bool | None) -> MaintenanceSchedule:
        """Change the times of a task; raise `NotFound`, or `BadInput` for an invalid cron expression."""
        self._task(key)
        was = (await self._runner.schedules())[key]
        text = was.cron if cron is None else " ".join(cron.split())
        next_at = Cron.parse(text).next_after(self._clock.now())
        wanted = MaintenanceSchedule(key, text, was.enabled if enabled is None else enabled, next_at)
        return await self._store.set_schedule(wanted)

    async def _add(self, key: str, caller: Caller | None, state: MaintenanceState) -> MaintenanceRunRow:
        self._task(key)
        who = None if caller is None else (caller.subject, caller.name)
        run = await self._store.add(key, who, state, LEASE_MS)
        if run is None:
            raise Conflict(f"a run of {key} is open")
        return run

    def _task(self, key: str) -> MaintenanceTask:
        found = self._runner.tasks.get(key)
        if found is None:
            raise NotFound("maintenance task", key)
        return found
