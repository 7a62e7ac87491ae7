"""The deletion of runs, old tasks, events and unnamed segments, on either engine."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.runs.run_counters import lock_runs
from longline.model.archive.segment import SegmentRow
from longline.model.errors import NotFound
from longline.model.runs.retention import RunUses
from longline.model.runs.run import RunKind
from longline.model.sinks.sink import ABANDONED_MS
from longline.ports.records.runs.retention import DeletedPiece, ExpiredRun, OldTasks

PIECES = ("delete_refused_urls", "delete_run_items", "delete_entries", "delete_events_of_run")
"""Rows of a run of which there may be many, in the order of their deletion after the tasks."""

REST = (
    "delete_fates",
    "delete_requests",
    "delete_sessions",
    "delete_sink_positions",
    "delete_sink_skips",
    "delete_refused_sums",
    "delete_effects",
    "delete_log",
    "delete_manifest",
    "delete_counts",
)
"""Rows of a run of which there are few; they go with the run's own row."""


class RetentionRecords(Table):
    """Rows that are too old."""

    async def expired(
        self, kind: RunKind, scheduled: bool, before: int, after: ExpiredRun, limit: int
    ) -> list[ExpiredRun]:
        place = {"after_at": after.ended_at, "after": after.id}
        found = {"kind": kind, "scheduled": scheduled, "before": before, "limit": limit}

        async def work(tx: Transaction) -> list[ExpiredRun]:
            return [ExpiredRun(row["ended_at"], row["id"]) for row in await tx.all("expired_runs", **found, **place)]

        return await self._database.read(work)

    async def surplus(self, keep: int, after: int, limit: int) -> list[int]:
        return await self._ids("surplus_runs", keep=keep, after=after, limit=limit)

    async def mark(self, run_id: int, *, forced: bool = False) -> str | None:
        async def work(tx: Transaction) -> str | None:
            await lock_runs(tx, [run_id])
            row = await tx.one("uses_of_run", id=run_id)
            if row is None:
                raise NotFound("run", run_id)
            undelivered = bool(await tx.batch("undelivered_runs", [(run_id,)], abandoned=ABANDONED_MS))
            uses = replace(struct(row, RunUses), undelivered=undelivered)
            if uses.deleted_at is not None:
                return None
            refusal = uses.refusal(forced=forced)
            if refusal is None:
                await tx.batch("total_runs", [(run_id, -1)])
                await tx.one("mark_deleted", id=run_id)
                await tx.batch("unschedule_runs", [(run_id,)])
                await tx.all("free_schedule_of_run", id=run_id)
            return refusal

        return await audited(self._database, "run", run_id, work, changed=lambda refusal: refusal is None)

    async def marked(self, after: int, limit: int) -> list[int]:
        return await self._ids("deleted_runs", after=after, limit=limit)

    async def delete_piece(self, run_id: int, limit: int, *, without_log_object: bool = False) -> DeletedPiece:
        async def work(tx: Transaction) -> DeletedPiece:
            await lock_runs(tx, [run_id])
            if await tx.one("deleted_run", id=run_id) is None:
                return DeletedPiece(is_gone=True)
            tasks = [row["id"] for row in await tx.all("tasks_to_delete", run_id=run_id, limit=limit)]
            if tasks:
                await _delete_tasks(tx, tasks)
                return DeletedPiece(is_gone=False)
            for statement in PIECES:
                if await tx.all(statement, run_id=run_id, limit=limit):
                    return DeletedPiece(is_gone=False)
            log = await tx.one("log_object", run_id=run_id)
            if log is not None and not without_log_object:
                return DeletedPiece(is_gone=False, log_key=log["key"])
            for statement in REST:
                await tx.all(statement, run_id=run_id)
            await tx.one("delete_run", run_id=run_id)
            return DeletedPiece(is_gone=True, is_deleted=True)

        return await self._database.transact(work)

    async def standing_runs(self, *, bots: bool, after: int, limit: int) -> list[int]:
        return await self._ids("standing_runs", bots=bots, after=after, limit=limit)

    async def old_tasks(self, run_id: int, before: int, after: int, limit: int) -> OldTasks:
        async def work(tx: Transaction) -> OldTasks:
            rows = await tx.all("ended_tasks", run_id=run_id, before=before, after=after, limit=limit)
            keys = tuple(row["page_key"] for row in rows if row["page_key"] is not None)
            return OldTasks(tuple(row["id"] for row in rows), keys)

        return await self._database.read(work)

    async def delete_tasks(self, task_ids: Sequence[int]) -> int:
        async def work(tx: Transaction) -> int:
            rows = await tx.batch("lock_ended_tasks", [(task_id,) for task_id in sorted(task_ids)])
            await _delete_tasks(tx, sorted(row["id"] for row in rows))
            return len(rows)

        return await self._database.transact(work)

    async def delete_events(self, before: int, limit: int) -> int:
        async def work(tx: Transaction) -> int:
            rows = await tx.all("old_events", after=0, limit=limit)
            old = [(row["id"],) for row in rows if row["at"] < before]
            await tx.batch("delete_events", old)
            return len(old)

        return await self._database.transact(work)

    async def release_bodies(self, before: int, visited_before: int, after: int, limit: int) -> int:
        async def work(tx: Transaction) -> int:
            rows = await tx.all("old_bodies", before=before, after=after, limit=limit)
            unvisited = [row for row in rows if row["visited_at"] is None]
            await tx.batch("delete_bodies", [(row["task_id"],) for row in unvisited if not row["named"]])
            old = [(r["task_id"],) for r in rows if r["visited_at"] is not None and r["visited_at"] < visited_before]
            await tx.batch("forget_old_visits", old, before=visited_before)
            # A worker may have read the visit just now: the body stays for another while.
            await tx.batch("keep_bodies_longer", old)
            return rows[-1]["task_id"] if len(rows) == limit else 0

        return await self._database.transact(work)

    async def unnamed_segments(self, after: int, limit: int) -> list[SegmentRow]:
        return await self._all("unnamed_segments", SegmentRow, after=after, limit=limit)

    async def delete_segment(self, segment_id: int) -> None:
        await self._write("delete_segment", id=segment_id)

    async def _ids(self, query: str, /, **params: int | bool) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            return [row["id"] for row in await tx.all(query, **params)]

        return await self._database.read(work)


async def _delete_tasks(tx: Transaction, task_ids: Sequence[int]) -> None:
    """Delete tasks with every row that is theirs; a body that others refer to is kept."""
    rows = [(task_id,) for task_id in task_ids]
    await tx.batch("keep_bodies", rows)
    await tx.batch("delete_pages", rows)
    await tx.batch("delete_item_pages", rows)
    await tx.batch("delete_redirects", rows)
    listed = Counter((row["run_id"], row["rest"]) for row in await tx.batch("delete_standing", rows))
    await tx.batch("count_standing", [(*key, -count) for key, count in sorted(listed.items())])
    await tx.batch("delete_bot_tasks", rows)
    await tx.batch("delete_downloads", rows)
    await tx.batch("delete_events_of_tasks", rows)
    await tx.batch("delete_tasks", rows)
