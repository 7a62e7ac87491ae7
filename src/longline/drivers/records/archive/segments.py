"""Segments of the archive."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.archive.segment import SegmentRow


class SegmentRecords(Table):
    """Segments."""

    async def begin(self, key: str, owner: int) -> int:
        return int((await self._make("begin_segment", key=key, owner=owner))["id"])

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        async def work(tx: Transaction) -> list[SegmentRow]:
            rows = await tx.batch("abandoned_segments", [(owner,) for owner in owners])
            return [struct(row, SegmentRow) for row in rows]

        return await self._database.read(work)

    async def drop(self, segment_id: int) -> None:
        await self._write("drop_segment", id=segment_id)

    async def find(self, *, run_id: int | None = None) -> list[SegmentRow]:
        if run_id is None:
            return await self._all("find_segments", SegmentRow)
        return await self._all("find_segments_of_run", SegmentRow, run_id=run_id)
