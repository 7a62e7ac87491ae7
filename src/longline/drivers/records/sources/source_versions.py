"""Versions of sources, on either engine; triggers of the database count them."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.table import Table


class SourceVersionRecords(Table):
    """Versions of sources."""

    async def get(self, source_id: int | None) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("source_version", source_id=source_id or 0)
            return int(row["version"]) if row else 0

        return await self._database.read(work)

    async def after(self, version: int, limit: int) -> list[tuple[int | None, int]]:
        async def work(tx: Transaction) -> list[tuple[int | None, int]]:
            rows = await tx.all("source_versions_after", after=version, limit=limit)
            return [(row["source_id"] or None, row["version"]) for row in rows]

        return await self._database.read(work)
