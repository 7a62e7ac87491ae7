"""Runs of maintenance tasks, and the times at which they start by themselves, on either engine."""

from collections.abc import Sequence

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.ids import new_id
from longline.model.maintenance.maintenance_run import (
    KEPT_MS,
    LAPSED_ERROR,
    MaintenanceResult,
    MaintenanceRunRow,
    MaintenanceSchedule,
    MaintenanceState,
)


class MaintenanceRecords(Table):
    """Runs and times of maintenance tasks. A unique index keeps two open runs of one task apart."""

    async def schedules(self) -> list[MaintenanceSchedule]:
        return await self._all("maintenance_schedules", MaintenanceSchedule)

    async def set_schedule(self, schedule: MaintenanceSchedule) -> MaintenanceSchedule:
        async def work(tx: Transaction) -> MaintenanceSchedule:
            [row] = await tx.all(
                "set_maintenance_schedule",
                task=schedule.task,
                cron=schedule.cron,
                enabled=schedule.enabled,
                next_at=schedule.next_at,
            )
            return struct(row, MaintenanceSchedule)

        return await audited(self._database, "maintenance schedule", schedule.task, work)

    async def advance(self, schedule: MaintenanceSchedule, next_at: int) -> bool:
        async def work(tx: Transaction) -> bool:
            places = {"task": schedule.task, "was": schedule.next_at, "next_at": next_at}
            if await tx.one("advance_maintenance_schedule", **places) is None:
                return False
            await _add(tx, schedule.task, None, MaintenanceState.QUEUED, 0)
            return True

        return await self._database.transact(work)

    async def add(
        self, task: str, caller: tuple[str, str] | None, state: MaintenanceState, lease_ms: int
    ) -> MaintenanceRunRow | None:
        async def work(tx: Transaction) -> MaintenanceRunRow | None:
            row = await _add(tx, task, caller, state, lease_ms)
            return struct(row, MaintenanceRunRow) if row else None

        return await audited(self._database, "maintenance run", lambda made: made.id if made else None, work)

    async def take(self, lease_ms: int) -> MaintenanceRunRow | None:
        async def work(tx: Transaction) -> MaintenanceRunRow | None:
            row = await tx.one("take_maintenance_run", lease_until=tx.now + lease_ms)
            return struct(row, MaintenanceRunRow) if row else None

        return await self._database.transact(work)

    async def end(
        self, run_id: str, state: MaintenanceState, result: MaintenanceResult, error: str | None = None
    ) -> MaintenanceRunRow | None:
        async def work(tx: Transaction) -> MaintenanceRunRow | None:
            facts = {"rows_changed": result.rows, "facts": result.facts, "error": error}
            row = await tx.one("end_maintenance_run", id=run_id, state=state.value, **facts)
            return struct(row, MaintenanceRunRow) if row else None

        return await self._database.transact(work)

    async def cancel(self, task: str) -> MaintenanceRunRow | None:
        found = await self._one("open_maintenance_run", MaintenanceRunRow, task=task)
        if found is None:
            return None

        async def work(tx: Transaction) -> MaintenanceRunRow | None:
            row = await tx.one("cancel_maintenance_run", id=found.id)
            return struct(row, MaintenanceRunRow) if row else None

        return await audited(self._database, "maintenance run", found.id, work)

    async def get(self, run_id: str) -> MaintenanceRunRow | None:
        return await self._one("maintenance_run", MaintenanceRunRow, id=run_id)

    async def latest(self, tasks: Sequence[str]) -> dict[str, MaintenanceRunRow]:
        found = [await self._one("latest_maintenance_run", MaintenanceRunRow, task=task) for task in tasks]
        return {row.task: row for row in found if row is not None}


async def _add(
    tx: Transaction, task: str, caller: tuple[str, str] | None, state: MaintenanceState, lease_ms: int
) -> Row | None:
    """Make a run; return None while another run of the task is open and its lease has not lapsed."""
    await tx.all("fail_lapsed_maintenance", task=task, error=LAPSED_ERROR)
    await tx.all("prune_maintenance_runs", task=task, before=tx.now - KEPT_MS)
    is_running = state is MaintenanceState.RUNNING
    caller_id, caller_name = caller or (None, None)
    return await tx.one(
        "add_maintenance_run",
        id=new_id(),
        task=task,
        state=state.value,
        caller_id=caller_id,
        caller_name=caller_name,
        started_at=tx.now if is_running else None,
        lease_until=tx.now + lease_ms if is_running else None,
    )
