"""Dead letters on either engine."""

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.downloads.dead_letter import DeadLetter, DeadLetterFilter


async def find_letters(tx: Transaction, wanted: DeadLetterFilter, after: int, limit: int) -> list[DeadLetter]:
    """Return dead letters in the order of their numbers."""
    asked = msgspec.structs.asdict(wanted)
    return [struct(row, DeadLetter) for row in await tx.all("find_dead_letters", after=after, limit=limit, **asked)]


class DeadLetterRecords(Table):
    """Dead letters."""

    async def get(self, number: int) -> DeadLetter | None:
        return await self._one("dead_letter", DeadLetter, number=number)

    async def find(self, wanted: DeadLetterFilter, *, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        return await self._database.read(lambda tx: find_letters(tx, wanted, after, limit))

    async def count(self, wanted: DeadLetterFilter) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_dead_letters", **msgspec.structs.asdict(wanted))
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def purge(self, before: int, limit: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("purge_dead_letters", before=before, limit=limit))

        return await self._database.transact(work)
