"""Items of two runs side by side, on either engine."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.search.gone_items import MissingItem, UnreadPages
from longline.model.search.item import ItemRow
from longline.model.search.item_changes import ItemSums, ItemVersion, RunsCompared


class ItemChangeRecords(Table):
    """Versions of items, by run."""

    async def between(self, before: int, after: int) -> list[RunsCompared]:
        return await self._all("item_changes", RunsCompared, before=before, after=after)

    async def missing(self, before: int, after: int) -> list[MissingItem]:
        return await self._all("missing_items", MissingItem, before=before, after=after)

    async def unread(self, before: int, after: int) -> list[UnreadPages]:
        return await self._all("unread_pages", UnreadPages, before=before, after=after)

    async def sums(self, run_id: int) -> ItemSums:
        (sums,) = await self._all("sum_items", ItemSums, before=run_id, after=run_id)
        return sums

    async def history(self, item_id: int, limit: int) -> list[ItemVersion]:
        return await self._all("item_history", ItemVersion, item_id=item_id, limit=limit)

    async def selves(self, run_id: int, versions: Sequence[tuple[int, int, int]]) -> dict[int, ItemRow]:
        async def work(tx: Transaction) -> dict[int, ItemRow]:
            rows = await tx.batch("item_selves", [(*version, run_id) for version in versions])
            return {row["id"]: struct(row, ItemRow) for row in rows}

        return await self._database.read(work)
