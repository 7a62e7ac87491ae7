"""Runs of schedules and their results, on either engine."""

from collections.abc import Iterable, Mapping, Sequence

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.runs.end_judgement import judged_failure
from longline.drivers.records.runs.run_counters import lock_runs, start_failure
from longline.model.runs.end_judgement import stored_end_rules
from longline.model.runs.run import (
    MAX_RUN_ERRORS,
    DayTotals,
    Fate,
    RequestSum,
    RunReview,
    RunRow,
    RunStats,
    RunSummary,
    RunTotals,
)
from longline.model.runs.start_page import StartPage
from longline.model.states import RunState, TaskState


class RunHistoryRecords(Table):
    """The runs of schedules."""

    async def get_by_uid(self, uid: str) -> RunRow | None:
        return await self._one("run_by_uid", RunRow, uid=uid)

    async def find(self, schedule_id: int, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        return await self._all("runs_of_schedule", RunRow, schedule_id=schedule_id, limit=limit, offset=offset)

    async def record(self, schedule_id: int | None = None) -> RunTotals:
        if schedule_id is None:
            [record] = await self._all("record_of_all", RunTotals)
        else:
            [record] = await self._all("record_of_schedule", RunTotals, schedule_id=schedule_id)
        return record

    async def completed_totals(self, since: int) -> DayTotals:
        [brought] = await self._all("brought_since", DayTotals, since=since)
        return brought

    async def items(self, run_id: int) -> int:
        async def work(tx: Transaction) -> int:
            [row] = await tx.batch("item_sums", [(run_id,)]) or [{"items": 0}]
            return int(row["items"])

        return await self._database.read(work)

    async def review(self, run_ids: Sequence[int]) -> dict[int, RunReview]:
        rows = [(run_id,) for run_id in run_ids]

        async def work(tx: Transaction) -> dict[int, RunReview]:
            found = {name: await tx.batch(name, rows) for name in REVIEW_STATEMENTS}
            began = {first["run_id"] for first in found["first_tasks"] if first["state"] == TaskState.COMPLETED}
            # A run that has its start page and others did not fail at its start: most runs cost no look of their own.
            failures = {
                run["run_id"]: await start_failure(tx, run["run_id"], run["completed"])
                for run in found["item_sums"]
                if run["state"] == RunState.RUNNING and (run["completed"] <= 1 or run["run_id"] not in began)
            }
            judged = await _judged(tx, [run for run in found["item_sums"] if failures.get(run["run_id"]) is None])
            return {run_id: _review(run_id, found, failures.get(run_id), judged.get(run_id)) for run_id in run_ids}

        return await self._database.read(work)

    async def note(self, notes: Mapping[int, RunSummary]) -> None:
        async def work(tx: Transaction) -> None:
            await lock_runs(tx, notes)
            await note_runs(tx, notes)

        await self._database.transact(work)

    async def ended(self, run_ids: Sequence[int]) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            return [row["id"] for row in await tx.batch("ended_runs", [(run_id,) for run_id in run_ids])]

        return await self._database.read(work) if run_ids else []


async def note_runs(tx: Transaction, notes: Mapping[int, RunSummary]) -> None:
    """Keep facts with runs, which are locked."""
    kept = sorted(notes.items())
    await tx.batch("measure_runs", [(run_id, note.memory_mb) for run_id, note in kept])
    await tx.batch("note_runs", [(run_id, note.figures, note.stack) for run_id, note in kept])


async def unschedule(tx: Transaction, run_ids: Iterable[int]) -> list[int]:
    """Separate runs from their schedules, which lists none of them any more; return the ids of these runs."""
    await lock_runs(tx, run_ids)
    rows = [(run_id,) for run_id in sorted(run_ids)]
    # Scheduled runs have totals of their own.
    await tx.batch("total_runs", [(run_id, -1) for (run_id,) in rows])
    separated = [row["id"] for row in await tx.batch("unschedule_runs", rows)]
    await tx.batch("total_runs", [(run_id, 1) for (run_id,) in rows])
    await tx.batch("age_logs", sorted((run_id,) for run_id in separated))
    return separated


REVIEW_STATEMENTS = ("first_tasks", "start_pages", "request_sums", "error_sums", "fate_sums", "item_sums")
"""Queries for the review of runs."""


async def _judged(tx: Transaction, runs: Sequence[Row]) -> dict[int, str | None]:
    """Return the errors of runs that their plans judge as failed, of those that are still to be ended."""
    done = {run["run_id"]: run for run in runs if run["state"] == RunState.RUNNING}
    plans = await tx.batch("run_plans", [(run_id,) for run_id in done])
    rules = {row["id"]: stored_end_rules(row["plan"]) for row in plans}
    return {i: await judged_failure(tx, i, rules[i], (run["admitted"], run["completed"])) for i, run in done.items()}


def _review(
    run_id: int, found: Mapping[str, Sequence[Row]], failure: str | None, judged: str | None = None
) -> RunReview:
    own = {name: [row for row in rows if row["run_id"] == run_id] for name, rows in found.items()}
    start = None
    for first in own["first_tasks"]:
        pages = {row["url"]: row["digest"] for row in own["start_pages"]}
        start = StartPage(first["url"], first["state"], first["reason"], first["error"], pages)
    survey = RunStats(
        asked=tuple(struct(row, RequestSum) for row in own["request_sums"]),
        errors=tuple((row["error"], row["count"], row["last_url"]) for row in own["error_sums"][:MAX_RUN_ERRORS]),
        fates=tuple(Fate(row["fate"], row["reason"], row["count"]) for row in own["fate_sums"]),
        items=sum(row["items"] for row in own["item_sums"]),
        untitled=sum(row["untitled"] for row in own["item_sums"]),
        bodiless=sum(row["bodiless"] for row in own["item_sums"]),
    )
    if failure is None and judged is not None:
        return RunReview(start, survey, judged, "fail_judged")
    return RunReview(start, survey, failure)
