"""Plain remembering of the nouns whose states move elsewhere, on either engine."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from longline.drivers.records.database import Database, Row, Tx, struct
from longline.model.errors import Unavailable
from longline.model.run import Fate, NewRun, RunRow
from longline.model.segment import SegmentRow
from longline.model.states import move
from longline.model.task import PageFacts, TaskRow
from longline.model.worker import WorkerRow

S = TypeVar("S", bound=msgspec.Struct)


class Noun:
    """The few ways in which a noun is read or made."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _all(self, query: str, shape: type[S], /, **params: Any) -> list[S]:
        async def work(tx: Tx) -> list[S]:
            return [struct(row, shape) for row in await tx.all(query, **params)]

        return await self._database.read(work)

    async def _one(self, query: str, shape: type[S], /, **params: Any) -> S | None:
        rows = await self._all(query, shape, **params)
        return rows[0] if rows else None

    async def _make(self, query: str, /, **params: Any) -> Row:
        async def work(tx: Tx) -> Row | None:
            return await tx.one(query, **params)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"{query} returned nothing")
        return row

    async def _write(self, query: str, /, **params: Any) -> None:
        async def work(tx: Tx) -> None:
            await tx.all(query, **params)

        await self._database.transact(work)


def _born(run: NewRun) -> dict[str, Any]:
    return msgspec.structs.asdict(run) | {"state": move("run", "create").became}


class RunRecords(Noun):
    """Runs."""

    async def add(self, run: NewRun) -> RunRow:
        return struct(await self._make("add_run", **_born(run)), RunRow)

    async def ensure(self, run: NewRun) -> RunRow:
        async def work(tx: Tx) -> Row | None:
            await tx.all("ensure_run", **_born(run))
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
        async def work(tx: Tx) -> bool:
            return await tx.one("replan_run", id=run_id, plan=plan, source_id=source_id) is not None

        return await self._database.transact(work)

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        return await self._all("find_runs", RunRow, limit=limit, offset=offset)

    async def fates(self, run_id: int) -> list[Fate]:
        return await self._all("fates_of_run", Fate, run_id=run_id)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Tx) -> dict[str, int]:
            return {row["state"]: row["count"] for row in await tx.all("run_counts")}

        return await self._database.read(work)


class TaskRecords(Noun):
    """Tasks, for those who look."""

    async def get(self, task_id: int) -> TaskRow | None:
        return await self._one("task", TaskRow, id=task_id)

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        if run_id is None:
            return await self._all("find_tasks", TaskRow, limit=limit, after=after)
        return await self._all("find_tasks_of_run", TaskRow, run_id=run_id, limit=limit, after=after)

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        row = await self._database.read(lambda tx: tx.one("known_task", scope=scope, host=host, key=key))
        return row is not None

    async def page(self, task_id: int) -> tuple[str, PageFacts] | None:
        async def work(tx: Tx) -> tuple[str, PageFacts] | None:
            row = await tx.one("page", task_id=task_id)
            return (row["key"], PageFacts(*[row[i] for i in range(1, 14)])) if row else None

        return await self._database.read(work)

    async def counts(self) -> dict[str, int]:
        async def work(tx: Tx) -> dict[str, int]:
            row = await tx.one("task_counts")
            return {name: row[name] for name in row.keys()} if row else {}  # noqa: SIM118 - a Row iterates over values

        return await self._database.read(work)


class SegmentRecords(Noun):
    """Segments."""

    async def begin(self, key: str, owner: int) -> int:
        return int((await self._make("begin_segment", key=key, owner=owner))["id"])

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        async def work(tx: Tx) -> list[SegmentRow]:
            rows = await tx.batch("abandoned_segments", [(owner,) for owner in owners])
            return [struct(row, SegmentRow) for row in rows]

        return await self._database.read(work)

    async def drop(self, segment_id: int) -> None:
        await self._write("drop_segment", id=segment_id)

    async def find(self, *, run_id: int | None = None) -> list[SegmentRow]:
        if run_id is None:
            return await self._all("find_segments", SegmentRow)
        return await self._all("find_segments_of_run", SegmentRow, run_id=run_id)


class WorkerRecords(Noun):
    """Workers."""

    async def join(self, name: str, roles: str, mark: str) -> WorkerRow:
        return struct(await self._make("join_worker", name=name, roles=roles, mark=mark), WorkerRow)

    async def beat(self, worker: WorkerRow) -> None:
        await self._write("beat_worker", **msgspec.structs.asdict(worker))

    async def leave(self, worker_id: int) -> None:
        await self._write("leave_worker", id=worker_id)

    async def find(self) -> list[WorkerRow]:
        return await self._all("find_workers", WorkerRow)

    async def silent(self, for_ms: int) -> list[WorkerRow]:
        return await self._all("silent_workers", WorkerRow, for_ms=for_ms)
