"""Dead letters on either engine."""

from collections.abc import Sequence

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

    async def of_tasks(self, task_ids: Sequence[int]) -> list[DeadLetter]:
        async def work(tx: Transaction) -> list[DeadLetter]:
            rows = await tx.batch("dead_letters_of_tasks", [(task_id,) for task_id in task_ids])
            return sorted((struct(row, DeadLetter) for row in rows), key=lambda letter: letter.number)

        return await self._database.read(work)

    async def count(self, wanted: DeadLetterFilter) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_dead_letters", **msgspec.structs.asdict(wanted))
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def purge(self, before: int, limit: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("purge_dead_letters", before=before, limit=limit))

        return await self._database.transact(work)
