"""Queued runs that start by themselves when they are due, on either engine."""

from collections.abc import Sequence

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.frontier.lifecycle_moves import move_row
from longline.drivers.records.row_structs import Table
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.errors import BadInput
from longline.model.frontier.task import NewTask
from longline.model.runs.run import DELAYED_MS, DueRun, RunKind
from longline.model.states import RunState, move
from longline.ports.records.frontier.frontier import Change


class DueRunRecords(Table):
    """Runs that are due, and the kinds of runs that are paused."""

    async def find(self, limit: int) -> list[DueRun]:
        return await self._all("due_runs", DueRun, limit=limit, delayed=DELAYED_MS)

    async def pause_kind(self, kind: RunKind) -> bool:
        return await self._changed("pause_kind", kind)

    async def resume_kind(self, kind: RunKind) -> bool:
        return await self._changed("resume_kind", kind)

    async def paused_kinds(self) -> list[RunKind]:
        async def work(tx: Transaction) -> list[RunKind]:
            return [RunKind(row["kind"]) for row in await tx.all("paused_kinds")]

        return await self._database.read(work)

    async def _changed(self, query: str, kind: RunKind) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one(query, kind=kind.value) is not None

        return await audited(self._database, "run kind", kind.value, work)


async def start_due(tx: Transaction, run_id: int, tasks: Sequence[NewTask], reason: str) -> bool:
    """Start a run that is still due, and admit its seeds; return False for a run that may not be started now.

    Raise `BadInput`, which rolls back the start, when no seed can be admitted: such a run would never end.
    """
    placed = await place(tx, tasks)
    # Lines before runs: one order in all transactions.
    await tx.batch("lock_lines", [(h,) for h in sorted({h for h, _ in placed})])
    if await tx.one("due_run", id=run_id) is None:
        return False
    rule = move("run", "start")
    if await move_row(tx, Change("run", run_id, rule.name, RunState.QUEUED, rule.became, "scheduler", reason)) is None:
        return False
    ledger = RunCounters()
    admitted, wake = await admit(tx, tasks, placed, ledger)
    if not admitted.new:
        raise BadInput("no seed of the run could be admitted: the budget of its source is used up")
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, "scheduler")
    return True
