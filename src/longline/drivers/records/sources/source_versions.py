"""Versions of sources, on either engine; triggers of the database count them."""

from collections.abc import Mapping

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.sources.source import SourceChange


class SourceVersionRecords(Table):
    """Versions of sources."""

    async def get(self, source_id: int | None) -> int:
        async def work(tx: Transaction) -> int:
            if source_id is None:
                row = await tx.one("version_of_all_sources")
            else:
                row = await tx.one("source_version", source_id=source_id)
            return int(row["version"]) if row else 0

        return await self._database.read(work)

    async def parts(self) -> dict[int, int]:
        async def work(tx: Transaction) -> dict[int, int]:
            return {row["part"]: row["version"] for row in await tx.all("source_change_parts")}

        return await self._database.read(work)

    async def after(self, seen: Mapping[int, int], limit: int) -> list[SourceChange]:
        async def work(tx: Transaction) -> list[SourceChange]:
            found: list[SourceChange] = []
            for row in await tx.all("source_change_parts"):
                part, after = row["part"], seen.get(row["part"], 0)
                if row["version"] > after and len(found) < limit:
                    rows = await tx.all("source_versions_after", part=part, after=after, limit=limit - len(found))
                    found += [SourceChange(part, each["source_id"], each["version"]) for each in rows]
            return found

        return await self._database.read(work)
