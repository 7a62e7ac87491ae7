"""Counters by name."""

from collections.abc import Mapping

from longline.drivers.records.database import Transaction
from longline.drivers.records.metrics.throughput import add_throughput
from longline.drivers.records.row_structs import Table
from longline.model.metrics.throughput import WorkerThroughput


class CounterRecords(Table):
    """Numbers by name."""

    async def add(self, counts: Mapping[str, int], throughput: WorkerThroughput | None = None) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("add_tallies", sorted(counts.items()))
            if throughput is not None:
                await add_throughput(tx, throughput)

        await self._database.transact(work)

    async def put(self, name: str, count: int) -> None:
        await self._write("put_tally", name=name, count=count)

    async def all(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["name"]: row["count"] for row in await tx.all("counters")}

        return await self._database.read(work)
