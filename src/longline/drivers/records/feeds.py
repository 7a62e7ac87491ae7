"""Feeds on either engine."""

import msgspec

from longline.drivers.records.database import Database, Tx, struct
from longline.model.errors import NotFound
from longline.model.poll import FeedRow
from longline.ports.records.feeds import Rule


class FeedRecords:
    """Feeds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, source_id: int) -> FeedRow | None:
        found = await self._database.read(lambda tx: _all(tx, "feed", source_id=source_id))
        return found[0] if found else None

    async def find(self, *, active: bool | None = None, limit: int = 50, after: int = 0) -> list[FeedRow]:
        return await self._database.read(lambda tx: _all(tx, "find_feeds", active=active, limit=limit, after=after))

    async def change(self, source_id: int, rule: Rule) -> FeedRow | None:
        async def work(tx: Tx) -> FeedRow | None:
            if await tx.one("source", id=source_id) is None:
                raise NotFound(f"there is no source {source_id}")
            await tx.all("begin_feed", source_id=source_id)
            (row,) = await _all(tx, "lock_feed", source_id=source_id)
            changed = rule(row, tx.now)
            if changed is not None:
                await tx.all("write_feed", **msgspec.structs.asdict(changed))
            return changed

        return await self._database.transact(work)

    async def claim(self, limit: int, hold_ms: int, *, searching: bool) -> list[FeedRow]:
        return await self._database.transact(
            lambda tx: _all(tx, "claim_feeds", limit=limit, hold=hold_ms, searching=searching)
        )

    async def answered(self, limit: int, *, searching: bool) -> list[FeedRow]:
        return await self._database.read(lambda tx: _all(tx, "answered_feeds", limit=limit, searching=searching))

    async def enlist(self) -> int:
        async def work(tx: Tx) -> int:
            return len(await tx.all("enlist_feeds"))

        return await self._database.transact(work)


async def _all(tx: Tx, query: str, /, **params: object) -> list[FeedRow]:
    return [struct(row, FeedRow) for row in await tx.all(query, **params)]
