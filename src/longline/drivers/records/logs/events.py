"""Events, which get their places when they are read.

An id is drawn before its transaction commits, so a later id may be seen first, and a reader that continues after the
later id would miss the earlier one. A place is given after the commit, to all visible events, by one reader at a time.
"""

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.logs.event import Event

BATCH_SIZE = 5000


class EventRecords:
    """Events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, *, after: int = 0, limit: int = 1000, listed: bool = True) -> list[Event]:
        async def work(tx: Transaction) -> tuple[list[Event], bool]:
            rows = await tx.all("find_events", after=after, limit=limit, listed=int(listed))
            more = len(rows) < limit and await tx.one("unplaced_event") is not None
            return [struct(row, Event) for row in rows], more

        found, more = await self._database.read(work)
        while more and await self._database.transact(_place) > 0:
            found, more = await self._database.read(work)
        return found

    async def newest(self) -> int:
        while await self._database.transact(_place) > 0:
            pass

        async def work(tx: Transaction) -> int:
            row = await tx.one("last_place")
            return int(row["last"]) if row else 0

        return await self._database.read(work)


async def _place(tx: Transaction) -> int:
    """Give places to events without one, and return their number."""
    row = await tx.one("last_place")
    last = int(row["last"]) if row else 0
    placed = len(await tx.all("place_events", last=last, limit=BATCH_SIZE))
    if placed:
        await tx.one("move_places", last=last + placed)
    return placed
