"""Sources in trouble, on either engine."""

from longline.drivers.records.row_structs import Table
from longline.model.sources.source import FailingSource


class FailingSourceRecords(Table):
    """Sources whose last runs failed."""

    async def find(self, *, limit: int) -> list[FailingSource]:
        return await self._all("failing_sources", FailingSource, limit=limit)
