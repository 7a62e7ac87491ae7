"""Messages of other services that were handled, on either engine."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.table import Table

T = TypeVar("T")

ALONG: ContextVar[str | None] = ContextVar("heeded", default=None)
"""Id of the message that is being handled."""


class RecordsMessageId:
    """A database that notes the id of the handled message in the transaction of the change."""

    def __init__(self, database: Database) -> None:
        self._database, self.engine = database, database.engine
        self.read, self.version, self.close = database.read, database.version, database.close

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        message_id = ALONG.get()
        if message_id is None:
            return await self._database.transact(work)

        async def noted(tx: Transaction) -> T:
            done = await work(tx)
            if done:  # an overtaken handler has changed nothing, and tries again
                await tx.all("note_heard", id=message_id)
            return done

        return await self._database.transact(noted)


class HandledMessageRecords(Table):
    """Ids of handled messages."""

    async def has(self, message_id: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("heard", id=message_id) is not None

        return await self._database.read(work)

    @contextmanager
    def along(self, message_id: str) -> Iterator[None]:
        mark = ALONG.set(message_id)
        try:
            yield
        finally:
            ALONG.reset(mark)

    async def note(self, message_id: str) -> None:
        await self._write("note_heard", id=message_id)

    async def prune(self, age_ms: int) -> None:
        await self._write("forget_heard", age=age_ms)
