"""Messages of other services that were handled, on either engine."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import Table
from longline.drivers.records.schedules.schedules import ScheduleRecords
from longline.drivers.records.schedules.ticks import TickRecords

T = TypeVar("T")


class MessageStores(NamedTuple):
    """The stores of schedules for the handling of one message."""

    schedules: ScheduleRecords
    ticks: TickRecords


class MessageDatabase:
    """A database that records one message as handled in the transaction of each change."""

    def __init__(self, database: Database, message_id: str) -> None:
        self._database, self._message_id, self.engine = database, message_id, database.engine
        self.read, self.version, self.close = database.read, database.version, database.close
        self.connections = database.connections

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async def noted(tx: Transaction) -> T:
            done = await work(tx)
            if done:  # an overtaken handler has changed nothing, and tries again
                await tx.all("add_handled_message", id=self._message_id)
            return done

        return await self._database.transact(noted)


class HandledMessageRecords(Table):
    """Ids of handled messages."""

    async def has(self, message_id: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("handled_message", id=message_id) is not None

        return await self._database.read(work)

    def stores(self, message_id: str) -> MessageStores:
        database = MessageDatabase(self._database, message_id)
        return MessageStores(ScheduleRecords(database), TickRecords(database))

    async def note(self, message_id: str) -> None:
        await self._write("add_handled_message", id=message_id)

    async def prune(self, age_ms: int) -> None:
        await self._write("delete_handled_messages", age=age_ms)
