"""Runs, and their totals."""

from collections.abc import Sequence
from typing import Any

import msgspec

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.errors import Unavailable
from longline.model.runs.run import Fate, NewRun, RunKind, RunRow
from longline.model.states import Actor, first_state

CREATION_STEPS = ("create",)
"""Moves by which a run comes to its first state."""


async def insert_run(tx: Transaction, run: NewRun, actor: Actor) -> Row:
    """Make a run, its counters and its event."""
    [row] = made = await tx.all("add_run", **_values(run))
    await _note(tx, made, run, actor)
    return await tx.one("run", id=row["id"]) or row


async def ensure(tx: Transaction, run: NewRun, actor: Actor) -> None:
    """Make a standing run, its counters and its event, unless there is one of that kind and seed."""
    # The insert waits for a concurrent one, so there is only one run.
    await _note(tx, await tx.all("ensure_run", **_values(run)), run, actor)


async def _note(tx: Transaction, made: Sequence[Row], run: NewRun, actor: Actor) -> None:
    """Write the counters and the event of a new run."""
    await tx.batch("add_run_counts", [(row["id"],) for row in made])
    ledger = RunCounters()
    for row in made:
        ledger.created("run", row["id"], CREATION_STEPS, (actor, run.kind))
    await ledger.write(tx, actor)


def _values(run: NewRun) -> dict[str, Any]:
    return msgspec.structs.asdict(run) | {
        "state": first_state("run", CREATION_STEPS),
        "standing": RunKind(run.kind).standing,
    }


class RunRecords(Table):
    """Runs."""

    async def add(self, run: NewRun, actor: Actor = "person") -> RunRow:
        async def work(tx: Transaction) -> RunRow:
            return struct(await insert_run(tx, run, actor), RunRow)

        return await self._database.transact(work)

    async def ensure(self, run: NewRun, actor: Actor = "person") -> RunRow:
        async def work(tx: Transaction) -> Row | None:
            await ensure(tx, run, actor)
            return await tx.one("first_run", kind=run.kind, seed=run.seed)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"the run of {run.seed} was not stored")
        return struct(row, RunRow)

    async def get(self, run_id: int) -> RunRow | None:
        return await self._one("run", RunRow, id=run_id)

    async def latest(self, kind: RunKind, seed: str) -> RunRow | None:
        return await self._one("latest_run", RunRow, kind=kind, seed=seed)

    async def first(self, kind: RunKind, seed: str) -> RunRow | None:
        return await self._one("first_run", RunRow, kind=kind, seed=seed)

    async def previous(self, run_id: int) -> RunRow | None:
        return await self._one("previous_run", RunRow, id=run_id)

    async def replan(self, run_id: int, plan: str, source_id: int | None) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("replan_run", id=run_id, plan=plan, source_id=source_id) is not None

        return await self._database.transact(work)

    async def revise(self, run_id: int, plan: str, budget: int | None) -> None:
        await self._write("revise_run", id=run_id, plan=plan, budget=budget)

    async def find(self, *, limit: int = 50, offset: int = 0, kind: RunKind | None = None) -> list[RunRow]:
        return await self._all("find_runs", RunRow, limit=limit, offset=offset, kind=kind)

    async def fates(self, run_id: int) -> list[Fate]:
        return await self._all("fates_of_run", Fate, run_id=run_id)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["state"]: row["count"] for row in await tx.all("run_counts")}

        return await self._database.read(work)
