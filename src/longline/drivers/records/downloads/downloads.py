"""Downloads as lists show them, on either engine."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.downloads.download import DownloadRow


class DownloadRecords(Table):
    """Downloads."""

    async def get(self, task_id: int) -> DownloadRow | None:
        return await self._one("download", DownloadRow, task_id=task_id)

    async def find(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[DownloadRow]:
        return await self._all("downloads_of_run", DownloadRow, run_id=run_id, after=after, limit=limit)

    async def of_resources(self, run_id: int, resource_ids: Sequence[str]) -> list[DownloadRow]:
        async def work(tx: Transaction) -> list[DownloadRow]:
            rows = await tx.batch("downloads_of_resources", [(run_id, one) for one in resource_ids])
            return [struct(row, DownloadRow) for row in rows]

        return await self._database.read(work)
