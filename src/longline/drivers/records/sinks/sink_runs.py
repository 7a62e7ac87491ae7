"""The runs that sinks get, on either engine."""

from collections.abc import Collection

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.sinks.sink import ABANDONED_MS

BATCH_SIZE = 500


class SinkRunRecords(Table):
    """The runs that sinks get."""

    async def assign_new(self) -> int:
        if not await self._database.read(lambda tx: tx.one("any_new_items")):
            return 0

        async def work(tx: Transaction) -> int:
            # A delivery that reaches the end of a run at this moment sees the new items, or is seen. Before the runs:
            # a report waits for a locked run, and a new sink may be locked for long.
            await tx.all("lock_sinks")
            taken = await tx.all("take_new_items", limit=BATCH_SIZE)
            runs = sorted((row["run_id"],) for row in taken)
            await tx.batch("lock_sources_of_sinks", runs)
            await tx.batch("assign_runs", runs, abandoned=ABANDONED_MS)
            return len(taken)

        return await self._database.transact(work)

    async def see(self, sink_ids: Collection[int]) -> None:
        await self._database.transact(lambda tx: tx.batch("see_sinks", sorted((sink_id,) for sink_id in sink_ids)))

    async def names(self) -> frozenset[str]:
        async def work(tx: Transaction) -> frozenset[str]:
            rows = await tx.all("named_sinks")
            return frozenset(name for row in rows for name in msgspec.json.decode(row["sinks"], type=list[str]))

        return await self._database.read(work)

    async def undelivered(self, run_ids: Collection[int]) -> frozenset[int]:
        async def work(tx: Transaction) -> frozenset[int]:
            rows = await tx.batch("undelivered_runs", sorted((run,) for run in run_ids), abandoned=ABANDONED_MS)
            return frozenset(row["id"] for row in rows)

        return await self._database.read(work)


async def assign_source(tx: Transaction, source_id: int) -> None:
    """Assign all runs of a source to the sinks that it names now, and to no other, in a transaction of the caller."""
    await tx.all("unassign_source", source_id=source_id)
    await tx.all("assign_source", source_id=source_id)
