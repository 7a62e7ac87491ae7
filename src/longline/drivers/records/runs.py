"""Runs, and their totals."""

from typing import Any

import msgspec

from longline.drivers.records.database import Row, Transaction, struct
from longline.drivers.records.table import Table
from longline.model.errors import Unavailable
from longline.model.runs.run import Fate, NewRun, RunRow
from longline.model.states import move


def new_run_row(run: NewRun) -> dict[str, Any]:
    """Return the parameters of a statement that inserts a run."""
    return msgspec.structs.asdict(run) | {"state": move("run", "create").became}


class RunRecords(Table):
    """Runs."""

    async def add(self, run: NewRun) -> RunRow:
        return struct(await self._make("add_run", **new_run_row(run)), RunRow)

    async def ensure(self, run: NewRun) -> RunRow:
        async def work(tx: Transaction) -> Row | None:
            await tx.all("ensure_run", **new_run_row(run))
            return await tx.one("first_run", kind=run.kind, seed=run.seed)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"the run of {run.seed} was not stored")
        return struct(row, RunRow)

    async def get(self, run_id: int) -> RunRow | None:
        return await self._one("run", RunRow, id=run_id)

    async def latest(self, kind: str, seed: str) -> RunRow | None:
        return await self._one("latest_run", RunRow, kind=kind, seed=seed)

    async def first(self, kind: str, seed: str) -> RunRow | None:
        return await self._one("first_run", RunRow, kind=kind, seed=seed)

    async def replan(self, run_id: int, plan: str, source_id: int | None) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("replan_run", id=run_id, plan=plan, source_id=source_id) is not None

        return await self._database.transact(work)

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        return await self._all("find_runs", RunRow, limit=limit, offset=offset)

    async def fates(self, run_id: int) -> list[Fate]:
        return await self._all("fates_of_run", Fate, run_id=run_id)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["state"]: row["count"] for row in await tx.all("run_counts")}

        return await self._database.read(work)
