"""Sources, on either engine."""

from typing import Any

import msgspec

from longline.drivers.records.database import Row, Tx, struct
from longline.drivers.records.nouns import Noun
from longline.model.errors import Conflict, Unavailable
from longline.model.source import NewSource, SourceQuery, SourceRow

KEPT = ("id", "name", "base_url", "crawl", "enabled", "disabled_at", "disable_reason", "feed_url")
KEPT_TOO = ("feed_disabled_at", "feed_disable_reason", "identity_key")


class SourceRecords(Noun):
    """Sources."""

    async def add(self, source: NewSource) -> SourceRow:
        async def work(tx: Tx) -> Row | None:
            made = await tx.one("add_source", **msgspec.structs.asdict(source))
            return made or await tx.one("source_by_name", name=source.name)

        row = await self._database.transact(work)
        if row is None:
            raise Unavailable(f"the source {source.name} was not stored")
        return struct(row, SourceRow)

    async def make(self, source: NewSource) -> SourceRow:
        async def work(tx: Tx) -> Row | None:
            return await tx.one("add_source", **msgspec.structs.asdict(source))

        row = await self._database.transact(work)
        if row is None:
            raise Conflict(f"there is a source called {source.name}")
        return struct(row, SourceRow)

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        async def work(tx: Tx) -> SourceRow | None:
            row = await tx.one("limit_source", id=source_id, budget=budget)
            return struct(row, SourceRow) if row else None

        return await self._database.transact(work)

    async def get(self, source_id: int) -> SourceRow | None:
        return await self._one("source", SourceRow, id=source_id)

    async def identified(self, identity_key: str) -> SourceRow | None:
        return await self._one("source_by_identity", SourceRow, identity_key=identity_key)

    async def find(self, query: SourceQuery | None = None, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        asked = _asked(query or SourceQuery()) | {"limit": limit, "offset": offset}
        return await self._all("find_sources", SourceRow, **asked)

    async def count(self, query: SourceQuery) -> int:
        asked = {name: value for name, value in _asked(query).items() if name not in ("sort", "falling")}

        async def work(tx: Tx) -> int:
            row = await tx.one("count_sources", **asked)
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def change(self, source: SourceRow) -> SourceRow | None:
        values = {name: getattr(source, name) for name in (*KEPT, *KEPT_TOO)}

        async def work(tx: Tx) -> SourceRow | None:
            other = await tx.one("source_by_name", name=source.name)
            if other is not None and other["id"] != source.id:
                raise Conflict(f"there is a source called {source.name}")
            row = await tx.one("change_source", **values)
            return struct(row, SourceRow) if row else None

        return await self._database.transact(work)

    async def remove(self, source_id: int) -> bool:
        async def work(tx: Tx) -> bool:
            await tx.all("let_go_of_source", id=source_id)
            await tx.all("let_go_of_source_runs", id=source_id)
            return await tx.one("remove_source", id=source_id) is not None

        return await self._database.transact(work)


def _asked(query: SourceQuery) -> dict[str, Any]:
    return msgspec.structs.asdict(query) | {"search": pattern(query.search)}


def pattern(search: str | None) -> str | None:
    """What LIKE needs to find a text anywhere; its own signs are taken for what they are."""
    if not search:
        return None
    escaped = search.lower().replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"
