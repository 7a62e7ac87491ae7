"""Messages of others that were heeded, on either engine."""

from longline.drivers.records.database import Tx
from longline.drivers.records.nouns import Noun


class HeardRecords(Noun):
    """Ids of messages."""

    async def has(self, message_id: str) -> bool:
        async def work(tx: Tx) -> bool:
            return await tx.one("heard", id=message_id) is not None

        return await self._database.read(work)

    async def note(self, message_id: str) -> None:
        await self._write("note_heard", id=message_id)

    async def prune(self, age_ms: int) -> None:
        await self._write("forget_heard", age=age_ms)
