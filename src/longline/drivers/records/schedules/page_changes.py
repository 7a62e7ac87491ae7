"""Changes of sources' start pages, by source."""

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.ports.records.schedules import PageChanges


class PageChangeRecords(Table):
    """Changes of start pages."""

    async def get(self, source_ref: str) -> PageChanges | None:
        async def work(tx: Transaction) -> PageChanges | None:
            row = await tx.one("page_changes", source_ref=source_ref)
            return struct(row, PageChanges) if row else None

        return await self._database.read(work)

    async def save(self, source_ref: str, page_changes: PageChanges) -> None:
        await self._write("save_page_changes", source_ref=source_ref, **msgspec.structs.asdict(page_changes))

    async def forget(self, source_ref: str) -> None:
        await self._write("delete_page_changes", source_ref=source_ref)
