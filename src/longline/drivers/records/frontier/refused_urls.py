"""URLs that the bounds or the budget of a run refused, and their later admission, on either engine."""

from collections.abc import Mapping, Sequence
from typing import Any

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.row_structs import Table
from longline.drivers.records.runs.run_counters import RunCounters, lock_runs, reopen
from longline.model.errors import NotFound
from longline.model.frontier.task import NewTask, RefusedUrl
from longline.model.states import RUN_ENDED
from longline.ports.records.frontier.frontier import Admitted


class RefusedUrlRecords(Table):
    """Refused URLs of runs that keep them."""

    async def counts(self, run_id: int) -> dict[str, int]:
        rows = await self._rows("refused_counts", run_id=run_id)
        return {row["reason"]: row["count"] for row in rows}

    async def depths(self, run_id: int) -> list[int]:
        return [row["depth"] for row in await self._rows("refused_depths", run_id=run_id)]

    async def find(self, run_id: int, depth: int, after: bytes, limit: int) -> list[RefusedUrl]:
        rows = await self._rows("find_refused", run_id=run_id, depth=depth, after=after, limit=limit)
        return [_refused(row) for row in rows]

    async def dropped(self, run_id: int) -> int:
        return sum(row["dropped"] for row in await self._rows("dropped_refused", run_id=run_id))

    async def change_reasons(self, run_id: int, reasons: Mapping[bytes, str]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("change_reasons", [(run_id, key, reason) for key, reason in sorted(reasons.items())])

        await self._database.transact(work)

    async def _rows(self, query: str, /, **params: Any) -> Sequence[Row]:
        async def work(tx: Transaction) -> Sequence[Row]:
            return await tx.all(query, **params)

        return await self._database.read(work)


def _refused(row: Row) -> RefusedUrl:
    task = NewTask(
        row["url"],
        row["host"],
        bytes(row["key"]),
        scope=row["run_id"],
        run_id=row["run_id"],
        depth=row["depth"],
        priority=row["priority"],
        parent_id=row["parent_id"],
        hops=row["hops"],
        keep_refused=True,
    )
    return RefusedUrl(row["reason"], task)


async def extend(tx: Transaction, run_id: int, tasks: Sequence[NewTask]) -> Admitted:
    """Admit URLs to a run, which is opened again if it has ended, and delete their refusals."""
    placed = await place(tx, tasks)
    await tx.batch("lock_lines", [(h,) for h in sorted({h for h, _ in placed})])
    locked = await lock_runs(tx, [run_id])
    if not locked:
        raise NotFound("run", run_id)
    state = locked[run_id]["state"]
    await tx.batch("drop_refused", sorted((t.run_id, t.key) for t in tasks))
    await tx.batch("sum_refused", [(run_id, -len(tasks), 0)])
    if len(await tx.batch("known_tasks", [(t.scope, h, t.key) for h, t in placed])) == len(placed):
        return Admitted(0, len(tasks), 0)
    ledger = RunCounters()
    reopened = state in RUN_ENDED
    if reopened:
        await reopen(tx, ledger, run_id, state, ("person", "its bounds were widened"))
    admitted, wake = await admit(tx, tasks, placed, ledger)
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, "person")
    if reopened and not admitted.new and (row := await tx.one("run", id=run_id)):
        # The budget has no room: the run ends again as it was.
        rest = RunCounters()
        await rest.settle(tx, row, "person")
        await rest.write(tx, "person")
    return admitted
