"""Runs that crawl the catalogue of a source, or one series of it, on either engine."""

from typing import Any

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction, TryAgain
from longline.drivers.records.frontier.lifecycle_moves import move_row
from longline.drivers.records.row_structs import Table, struct, values_of
from longline.drivers.records.runs.runs import insert_run
from longline.drivers.records.sources.sources import remove_source_row
from longline.model.errors import Conflict, NotFound
from longline.model.runs.run import NewRun, RunRow
from longline.model.series.series_run import (
    STUCK,
    CatalogueFigures,
    NewSeriesRun,
    SeriesRunQuery,
    SeriesRunRow,
    SourceRunCounts,
)
from longline.model.states import Actor, RunState, move
from longline.ports.records.frontier.frontier import Change


class SeriesRunRecords(Table):
    """Runs of catalogues. A unique index keeps two open runs of one subject apart."""

    async def add(self, run: NewRun, facts: NewSeriesRun, actor: Actor = "person") -> SeriesRunRow:
        async def work(tx: Transaction) -> SeriesRunRow:
            if await tx.one("source", id=run.source_id) is None:
                raise NotFound("source", run.source_id or 0)
            subject = {"kind": run.kind, "source_id": run.source_id, "subject": run.subject}
            if await tx.one("open_run_of_subject", **subject) is not None:
                raise Conflict("a run of this subject is queued or running")
            return await insert_series_run(tx, run, facts, actor)

        return await audited(self._database, "run", lambda made: made.run.id, work)

    async def get(self, uid: str) -> SeriesRunRow | None:
        async def work(tx: Transaction) -> SeriesRunRow | None:
            row = await tx.one("series_run", uid=uid)
            return _read(row) if row else None

        return await self._database.read(work)

    async def find(self, query: SeriesRunQuery, *, limit: int, offset: int) -> list[SeriesRunRow]:
        async def work(tx: Transaction) -> list[SeriesRunRow]:
            rows = await tx.all("find_series_runs", **_choice(query), sort=query.order, limit=limit, offset=offset)
            return [_read(row) for row in rows]

        return await self._database.read(work)

    async def count(self, query: SeriesRunQuery) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_series_runs", **_choice(query))
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def remove_source(self, source_id: int, uses: str) -> bool:
        async def work(tx: Transaction) -> bool:
            # The source is locked first: a run that is queued meanwhile waits, and then misses its source.
            await _lock_source(tx, source_id, uses)
            open_runs = await tx.all("open_series_runs", source_id=source_id)
            if any(row["state"] == RunState.RUNNING for row in open_runs):
                return False
            for row in open_runs:
                change = Change(
                    "run", row["id"], "cancel", row["state"], RunState.CANCELLED, "person", "source deleted"
                )
                if await move_row(tx, change) is None:
                    raise TryAgain  # the run has just started
            return await _remove(tx, source_id)

        return await audited(self._database, "source", source_id, work)

    async def stuck(self, started_before: int, limit: int) -> list[SeriesRunRow]:
        async def work(tx: Transaction) -> list[SeriesRunRow]:
            rows = await tx.all("stuck_series_runs", started_before=started_before, limit=limit)
            return [_read(row) for row in rows]

        return await self._database.read(work)

    async def replace_stuck(self, stuck: SeriesRunRow, run: NewRun, facts: NewSeriesRun) -> SeriesRunRow | None:
        async def work(tx: Transaction) -> SeriesRunRow | None:
            rule = move("run", "fail_stuck")
            change = Change("run", stuck.run.id, rule.name, RunState.RUNNING, rule.became, "person", error=STUCK)
            if await move_row(tx, change) is None:
                return None
            return await insert_series_run(tx, run, facts, "person")

        return await audited(self._database, "run", stuck.run.id, work, piece=True)

    async def figures(self, started_before: int) -> CatalogueFigures:
        async def work(tx: Transaction) -> CatalogueFigures:
            runs = await tx.all("open_series_run_figures", started_before=started_before)
            sources = await tx.all("extension_source_figures")
            row = {name: value for each in (*runs, *sources) for name, value in values_of(each).items()}
            return CatalogueFigures(**{name: int(value or 0) for name, value in row.items()})

        return await self._database.read(work)

    async def of_source(self, source_id: int) -> SourceRunCounts:
        async def work(tx: Transaction) -> SourceRunCounts:
            states = {row["state"]: row["count"] for row in await tx.all("series_run_states", source_id=source_id)}
            last = await tx.one("last_series_run", source_id=source_id)
            return SourceRunCounts(sum(states.values()), states, _read(last) if last else None)

        return await self._database.read(work)


async def insert_series_run(tx: Transaction, run: NewRun, facts: NewSeriesRun, actor: Actor) -> SeriesRunRow:
    """Make a run with its facts."""
    made = struct(await insert_run(tx, run, actor), RunRow)
    await tx.one(
        "add_series_run",
        run_id=made.id,
        source_id=run.source_id,
        series_id=facts.series_id,
        caller_id=facts.caller_id,
        caller_name=facts.caller_name,
    )
    return SeriesRunRow(made, facts.series_id, facts.caller_id, facts.caller_name)


async def _lock_source(tx: Transaction, source_id: int, uses: str) -> None:
    """Lock a source that has these uses."""
    await tx.all("lock_source", id=source_id)
    row = await tx.one("source", id=source_id)
    if row is None:
        raise NotFound("source", source_id)
    if row["uses"] != uses:
        raise Conflict(f"Source {row['name']} has just been taken up by another API")


async def _remove(tx: Transaction, source_id: int) -> bool:
    """Delete a source, and mark its runs as deleted; upkeep deletes their rows in pieces."""
    runs = [(each["run_id"],) for each in await tx.all("series_runs_of_source", source_id=source_id)]
    await tx.batch("total_runs", [(run_id, -1) for (run_id,) in runs])
    await tx.batch("mark_runs_deleted", runs)
    await tx.all("drop_effects_of_source", id=source_id)
    await remove_source_row(tx, source_id)
    return True


def _read(row: Row) -> SeriesRunRow:
    return SeriesRunRow(struct(row, RunRow), row["series_id"], row["caller_id"], row["caller_name"])


def _choice(query: SeriesRunQuery) -> dict[str, Any]:
    # One parameter for each state: a list has another form on each engine.
    states = {state.value: state.value if state.value in query.states else "" for state in RunState}
    return {
        "source_id": query.source_id,
        "series_id": query.series_id,
        "is_ordered": query.is_ordered,
        "due_after": query.due_after,
        "any_state": not query.states,
        **states,
    }
