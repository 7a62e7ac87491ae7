"""Pages on either engine."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.archive.page import PageRow, RedirectRow


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
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_pages", run_id=run_id)
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def redirects_of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[RedirectRow]:
        return await self._redirects("redirects_of_run", run_id=run_id, after=after, limit=limit)

    async def of_segment(self, segment_id: int) -> tuple[list[PageRow], list[RedirectRow]]:
        async def work(tx: Transaction) -> tuple[list[PageRow], list[RedirectRow]]:
            pages = await tx.all("pages_of_segment", segment_id=segment_id)
            redirects = await tx.all("redirects_of_segment", segment_id=segment_id)
            return [struct(row, PageRow) for row in pages], [struct(row, RedirectRow) for row in redirects]

        return await self._database.read(work)

    async def revisits(self, *, after: int = 0, limit: int = 1000) -> list[PageRow]:
        return await self._all("revisits", after=after, limit=limit)

    async def bodiless(self) -> list[PageRow]:
        return await self._all("pages_without_body")

    async def later(self, task_id: int) -> list[PageRow]:
        return await self._all("later_captures", task_id=task_id)

    async def redirected_later(self, url: str, fetched_at: int) -> list[RedirectRow]:
        return await self._redirects("redirected_later", url=url, fetched_at=fetched_at)

    async def forget(self, task_ids: Sequence[int]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("forget_visits", [(task_id,) for task_id in task_ids])

        await self._database.transact(work)

    async def _redirects(self, query: str, /, **params: Any) -> list[RedirectRow]:
        async def work(tx: Transaction) -> list[RedirectRow]:
            return [struct(row, RedirectRow) for row in await tx.all(query, **params)]

        return await self._database.read(work)

    async def _all(self, query: str, /, **params: Any) -> list[PageRow]:
        async def work(tx: Transaction) -> list[PageRow]:
            return [struct(row, PageRow) for row in await tx.all(query, **params)]

        return await self._database.read(work)
