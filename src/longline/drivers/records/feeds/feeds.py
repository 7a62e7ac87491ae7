"""Feeds on either engine."""

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.errors import NotFound
from longline.model.feeds.feed_poll import FeedRow
from longline.ports.records.feeds import FeedRule

FEED_COLUMNS = ("url", "active", "every_ms", "disabled_at", "disabled_reason")
"""Fields of a feed that are kept in the row of its source."""


class FeedRecords:
    """Feeds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, source_id: int) -> FeedRow | None:
        async def work(tx: Transaction) -> FeedRow | None:
            row = await tx.one("feed", source_id=source_id)
            return _feed(row) if row else None

        return await self._database.read(work)

    async def find(self, *, active: bool | None = None, limit: int = 50, after: int = 0) -> list[FeedRow]:
        return await self._database.read(lambda tx: _all(tx, "find_feeds", active=active, limit=limit, after=after))

    async def change(self, source_id: int, rule: FeedRule) -> FeedRow | None:
        async def work(tx: Transaction) -> FeedRow | None:
            await tx.all("lock_source", id=source_id)
            row = await tx.one("feed", source_id=source_id)
            if row is None:
                raise NotFound("source", source_id)
            changed = rule(_feed(row), tx.now)
            if changed is not None:
                await _write(tx, _feed(row), changed)
            return changed

        return await audited(self._database, "source", source_id, work)

    async def claim(self, limit: int, hold_ms: int, *, searching: bool) -> list[FeedRow]:
        async def work(tx: Transaction) -> list[FeedRow]:
            claimed = await tx.all("claim_feeds", limit=limit, hold=hold_ms, searching=searching)
            return [_feed(row) for row in await tx.batch("feeds", [(row["source_id"],) for row in claimed])]

        return await self._database.transact(work)

    async def answered(self, limit: int, *, searching: bool) -> list[FeedRow]:
        return await self._database.read(lambda tx: _all(tx, "answered_feeds", limit=limit, searching=searching))


async def _write(tx: Transaction, before: FeedRow, after: FeedRow) -> None:
    await write_progress(tx, after)
    said = {name: getattr(after, name) for name in FEED_COLUMNS}
    if any(getattr(before, name) != value for name, value in said.items()):
        await tx.all("tell_source_of_feed", source_id=after.source_id, **said)


async def write_progress(tx: Transaction, feed: FeedRow) -> None:
    """Write the progress of polling, without the fields in `FEED_COLUMNS`."""
    facts = msgspec.structs.asdict(feed)
    await tx.all("write_feed", **{name: fact for name, fact in facts.items() if name not in FEED_COLUMNS})


async def _all(tx: Transaction, query: str, /, **params: object) -> list[FeedRow]:
    return [_feed(row) for row in await tx.all(query, **params)]


def _feed(row: Row) -> FeedRow:
    return struct(row, FeedRow)
