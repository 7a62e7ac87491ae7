"""Batches of recrawls."""

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.recrawls.leased_recrawls import in_hands
from longline.drivers.records.row_structs import Table, struct
from longline.model.callers.audit import State
from longline.model.recrawls.recrawl_lists import BatchRow


class BatchRecords(Table):
    """Batches."""

    async def add(self, name: str) -> BatchRow:
        async def work(tx: Transaction) -> BatchRow:
            [row] = await tx.all("add_batch", name=name)
            return _batch(row, {})

        def audited_state(made: BatchRow) -> State | None:
            return {"id": made.id, "name": made.name}

        return await audited_many(self._database, "batch", audited_state, work)

    async def get(self, batch_id: int) -> BatchRow | None:
        async def work(tx: Transaction) -> BatchRow | None:
            row = await tx.one("batch", id=batch_id)
            if row is None:
                return None
            sums = await tx.all("batch_sums", batch_id=batch_id)
            counts = {one["phase"]: one["count"] for one in sums}
            return _batch(row, await in_hands(tx, counts, batch_id=batch_id))

        return await self._database.read(work)

    async def find(self, *, limit: int, offset: int = 0) -> tuple[list[BatchRow], int]:
        async def work(tx: Transaction) -> tuple[list[BatchRow], int]:
            rows = await tx.all("find_batches", limit=limit, offset=offset)
            total = await tx.one("count_batches")
            return [struct(row, BatchRow) for row in rows], total["total"] if total else 0

        return await self._database.read(work)

    async def members(self, batch_id: int, *, after: int, limit: int) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            rows = await tx.all("recrawls_of_batch", batch_id=batch_id, after=after, limit=limit)
            return [row["id"] for row in rows]

        return await self._database.read(work)


def _batch(row: Row, counts: dict[str, int]) -> BatchRow:
    return BatchRow(row["id"], row["name"], row["created_at"], counts)
