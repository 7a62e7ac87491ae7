"""Archived pages of recrawls that are too old."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table


class RecrawlPageRecords(Table):
    """The archived pages of recrawls."""

    async def delete_pages(self, before: int, after: int, limit: int) -> tuple[int, int | None]:
        async def work(tx: Transaction) -> tuple[int, int | None]:
            rows = await tx.all("pages_of_recrawls", before=before, after=after, limit=limit)
            old = [(row["id"],) for row in rows if row["is_old"]]
            await tx.batch("keep_bodies", old)
            await tx.batch("delete_pages", old)
            await tx.batch("delete_item_pages", old)
            return len(old), rows[-1]["id"] if len(rows) == limit else None

        return await self._database.transact(work)
