"""Pages on either engine."""

from typing import Any

from longline.drivers.records.database import Database, Tx, struct
from longline.model.page import PageRow


class PageRecords:
    """Pages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, task_id: int) -> PageRow | None:
        rows = await self._all("page_row", task_id=task_id)
        return rows[0] if rows else None

    async def captures(self, host: str, key: bytes) -> list[PageRow]:
        return await self._all("captures", host=host, key=key)

    async def of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[PageRow]:
        return await self._all("pages_of_run", run_id=run_id, after=after, limit=limit)

    async def count(self, run_id: int) -> int:
        async def work(tx: Tx) -> int:
            row = await tx.one("count_pages", run_id=run_id)
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def _all(self, query: str, /, **params: Any) -> list[PageRow]:
        async def work(tx: Tx) -> list[PageRow]:
            return [struct(row, PageRow) for row in await tx.all(query, **params)]

        return await self._database.read(work)
