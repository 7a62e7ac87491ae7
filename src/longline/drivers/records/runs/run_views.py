"""Runs as pages show them, on either engine: lists by key, each bounded."""

from collections.abc import Sequence

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.like_patterns import contains
from longline.drivers.records.paging import AFTER_EVERY_ROW
from longline.drivers.records.row_structs import Table, struct
from longline.model.runs.run import RequestSum
from longline.model.runs.run_pace import PaceCount
from longline.model.runs.run_view import MAX_COUNTED_TASKS, MAX_SEARCHED_RUNS, HostTasks, RunQuery, RunView

MAX_HOST_ROWS = 500


class RunViewRecords(Table):
    """Runs with the names of their sources and schedules."""

    async def find(self, query: RunQuery, *, limit: int, before: int | None = None) -> list[RunView]:
        choice = msgspec.structs.asdict(query)
        text = choice.pop("text")
        choice["before"] = AFTER_EVERY_ROW if before is None else before
        if text:
            searched = {"pattern": contains(text), "window": MAX_SEARCHED_RUNS}
            return await self._all("search_run_views", RunView, limit=limit, **choice, **searched)
        return await self._all("run_views", RunView, limit=limit, **choice)

    async def newer(self, query: RunQuery, *, limit: int, after: int) -> list[RunView]:
        choice = msgspec.structs.asdict(query)
        choice.pop("text")
        found = await self._all("newer_run_views", RunView, limit=limit, after=after, **choice)
        return found[::-1]

    async def open(self, state: str, *, limit: int) -> list[RunView]:
        return await self._all("open_run_views", RunView, state=state, limit=limit)

    async def get(self, run_id: int) -> RunView | None:
        return await self._one("run_view", RunView, id=run_id)

    async def among(self, run_ids: Sequence[int]) -> list[RunView]:
        async def work(tx: Transaction) -> list[RunView]:
            rows = await tx.batch("run_views_among", [(run_id,) for run_id in sorted(set(run_ids))])
            return sorted((struct(row, RunView) for row in rows), key=lambda run: run.id)

        return await self._database.read(work)

    async def hosts(self, run_id: int) -> list[HostTasks]:
        return await self._all("host_tasks", HostTasks, run_id=run_id, window=MAX_COUNTED_TASKS, limit=MAX_HOST_ROWS)

    async def pace(self, run_id: int, begin: int, step_ms: int) -> list[PaceCount]:
        return await self._all("run_pace", PaceCount, run_id=run_id, begin=begin, step=step_ms)

    async def requests(self, run_id: int) -> list[RequestSum]:
        return await self._all("request_sums_of_run", RequestSum, run_id=run_id)

    async def failed(self, run_id: int, *, limit: int, after: int = 0) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            return [row["id"] for row in await tx.all("failed_tasks_of_run", run_id=run_id, limit=limit, after=after)]

        return await self._database.read(work)
