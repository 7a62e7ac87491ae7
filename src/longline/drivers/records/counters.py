"""Counters by name."""

from collections.abc import Mapping

from longline.drivers.records.database import Transaction
from longline.drivers.records.table import Table


class CounterRecords(Table):
    """Numbers by name."""

    async def add(self, counts: Mapping[str, int]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("add_tallies", sorted(counts.items()))

        await self._database.transact(work)

    async def put(self, name: str, count: int) -> None:
        await self._write("put_tally", name=name, count=count)

    async def all(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["name"]: row["count"] for row in await tx.all("counters")}

        return await self._database.read(work)
