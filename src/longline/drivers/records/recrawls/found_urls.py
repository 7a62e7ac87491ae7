"""URLs that pages of recrawls brought, until they are taken."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.recrawls.recrawl import FoundUrl


class FoundUrlRecords(Table):
    """URLs that pages of recrawls brought."""

    async def find(self, limit: int) -> list[FoundUrl]:
        return await self._all("find_recrawl_finds", FoundUrl, limit=limit)

    async def delete(self, ids: Sequence[int]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("delete_recrawl_finds", [(one,) for one in sorted(ids)])

        await self._database.transact(work)
