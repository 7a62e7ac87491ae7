"""Sources, on either engine."""

from typing import Any

import msgspec

from longline.drivers.records.database import Row, Transaction, struct
from longline.drivers.records.like_patterns import contains
from longline.drivers.records.table import Table
from longline.model.errors import Conflict, Unavailable
from longline.model.ids import new_id
from longline.model.sources.source import NewSource, SourceQuery, SourceRow

SOURCE_COLUMNS = (
    "id",
    "name",
    "base_url",
    "parser",
    "config",
    "crawl",
    "enabled",
    "disabled_at",
    "disable_reason",
    "feed_url",
)
FEED_COLUMNS = ("feed_wanted", "feed_every_ms", "identity_key")
"""Columns that `change` takes from a source. The disabling of a feed is not among them: `FeedRecords` sets it."""


class SourceRecords(Table):
    """Sources."""

    async def add(self, source: NewSource) -> SourceRow:
        async def work(tx: Transaction) -> Row | None:
            return await add_source(tx, source) or await tx.one("source_by_name", name=source.name)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"the source {source.name} was not stored")
        return struct(row, SourceRow)

    async def make(self, source: NewSource) -> SourceRow:
        row = await self._database.transact(lambda tx: add_source(tx, source))
        if row is None:
            raise Conflict(f"there is a source called {source.name}")
        return struct(row, SourceRow)

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        async def work(tx: Transaction) -> SourceRow | None:
            row = await tx.one("limit_source", id=source_id, budget=budget)
            return struct(row, SourceRow) if row else None

        return await self._database.transact(work)

    async def get(self, source_id: int) -> SourceRow | None:
        return await self._one("source", SourceRow, id=source_id)

    async def get_by_ref(self, ref: str) -> SourceRow | None:
        kept = await self._one("curated_source", SourceRow, ref=ref)
        return kept or await self._one("source_called", SourceRow, called=ref)

    async def get_by_identity(self, identity_key: str) -> SourceRow | None:
        return await self._one("source_by_identity", SourceRow, identity_key=identity_key)

    async def find(self, query: SourceQuery | None = None, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        asked = _asked(query or SourceQuery()) | {"limit": limit, "offset": offset}
        return await self._all("find_sources", SourceRow, **asked)

    async def count(self, query: SourceQuery) -> int:
        asked = {name: value for name, value in _asked(query).items() if name not in ("sort", "falling")}

        async def work(tx: Transaction) -> int:
            row = await tx.one("count_sources", **asked)
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def change(self, source: SourceRow, was: SourceRow | None = None) -> SourceRow | None:
        values = {name: getattr(source, name) for name in (*SOURCE_COLUMNS, *FEED_COLUMNS)}

        async def work(tx: Transaction) -> SourceRow | None:
            other = await tx.one("source_by_name", name=source.name)
            if other is not None and other["id"] != source.id:
                raise Conflict(f"there is a source called {source.name}")
            await tx.all("lock_source", id=source.id)
            before = await tx.one("source", id=source.id)
            if before is not None and was is not None and any(before[name] != getattr(was, name) for name in values):
                return None
            other_feed = before is not None and before["feed_url"] != source.feed_url
            if other_feed:
                await tx.all("forget_feed", source_id=source.id)
            row = await tx.one("change_source", other_feed=other_feed, **values)
            if before is not None and before["feed_every_ms"] != source.feed_every_ms:
                await tx.all("repace_feed", source_id=source.id, every_ms=source.feed_every_ms)
            return struct(row, SourceRow) if row else None

        return await self._database.transact(work)

    async def remove(self, source_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            await tx.all("let_go_of_source", id=source_id)
            await tx.all("let_go_of_source_runs", id=source_id)
            return await tx.one("remove_source", id=source_id) is not None

        return await self._database.transact(work)


async def add_source(tx: Transaction, source: NewSource) -> Row | None:
    """Insert a source, its feed and sitemaps due at once; return None when its name is taken."""
    made = await tx.one("add_source", uid=new_id(), **msgspec.structs.asdict(source))
    if made is not None:
        await tx.all("begin_feed", source_id=made["id"])
        await tx.all("begin_sitemaps", source_id=made["id"])
    return made


def _asked(query: SourceQuery) -> dict[str, Any]:
    return msgspec.structs.asdict(query) | {"search": contains(query.search)}
