"""Tasks: one URL of one run each."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.like_patterns import literal
from longline.drivers.records.table import Table
from longline.model.frontier.fate import UrlFate, UrlFilters
from longline.model.frontier.task import TaskRow


class TaskRecords(Table):
    """Read access to tasks."""

    async def get(self, task_id: int) -> TaskRow | None:
        return await self._one("task", TaskRow, id=task_id)

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        if run_id is None:
            return await self._all("find_tasks", TaskRow, limit=limit, after=after)
        return await self._all("find_tasks_of_run", TaskRow, run_id=run_id, limit=limit, after=after)

    async def url_fates(self, run_id: int, filters: UrlFilters, *, after: int = 0, limit: int = 100) -> list[UrlFate]:
        host = literal(filters.host.lower()) if filters.host is not None else None
        wanted = {"fate": filters.fate, "reason": filters.reason, "host": host}
        return await self._all("url_fates", UrlFate, run_id=run_id, after=after, limit=limit, **wanted)

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        row = await self._database.read(lambda tx: tx.one("known_task", scope=scope, host=host, key=key))
        return row is not None

    async def counts(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            row = await tx.one("task_counts")
            return {name: row[name] for name in row.keys()} if row else {}  # noqa: SIM118 - a Row iterates over values

        return await self._database.read(work)
