"""Sources, on either engine."""

from collections.abc import Collection
from typing import Any, NoReturn

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction, TryAgain
from longline.drivers.records.like_patterns import contains, literal
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.sinks.sink_runs import assign_source
from longline.model.errors import Unavailable
from longline.model.ids import new_id
from longline.model.sources.slug import free_slug, numbered_stem, slug_of
from longline.model.sources.source import NewSource, SourceQuery, SourceRow, Taken, joined
from longline.model.sources.source_uses import decode_uses, encode_uses
from longline.model.urls.url import parse

SOURCE_COLUMNS = (
    "id",
    "name",
    "slug",
    "uses",
    "extension",
    "extension_config",
    "user_agent",
    "delay_ms",
    "concurrency",
    "proxy_pools",
    "robots_url",
    "robots_text",
    "robots_fetched_at",
    "failures",
    "base_url",
    "parser",
    "config",
    "sinks",
    "crawl",
    "recrawl",
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
        async def work(tx: Transaction) -> SourceRow:
            known = await _joined(tx, source)
            made = None if known else await add_source(tx, source)
            return known or (struct(made, SourceRow) if made else await _refuse(tx, source))

        return await audited(self._database, "source", source.name, work)

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        async def work(tx: Transaction) -> SourceRow | None:
            row = await tx.one("limit_source", id=source_id, budget=budget)
            return struct(row, SourceRow) if row else None

        return await audited(self._database, "source", source_id, work)

    async def get(self, source_id: int) -> SourceRow | None:
        return await self._one("source", SourceRow, id=source_id)

    async def get_many(self, ids: Collection[int]) -> dict[int, SourceRow]:
        async def work(tx: Transaction) -> dict[int, SourceRow]:
            rows = await tx.batch("sources_by_ids", [(each,) for each in sorted(set(ids))])
            return {row["id"]: struct(row, SourceRow) for row in rows}

        return await self._database.read(work)

    async def get_by_ref(self, ref: str) -> SourceRow | None:
        kept = await self._one("remote_source", SourceRow, ref=ref)
        return kept or await self._one("source_called", SourceRow, called=ref)

    async def get_by_name(self, name: str) -> SourceRow | None:
        return await self._one("source_by_name", SourceRow, name=name)

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
        async def work(tx: Transaction) -> SourceRow | None:
            other = await tx.one("source_by_name", name=source.name)
            if other is not None and other["id"] != source.id:
                raise _name_taken(source.name)
            other = await tx.one("source_by_slug", slug=source.slug)
            if other is not None and other["id"] != source.id:
                raise _slug_taken(source.slug)
            await tx.all("lock_source", id=source.id)
            before = await tx.one("source", id=source.id)
            if before is not None and was is not None and _values(struct(before, SourceRow)) != _values(was):
                return None
            return None if before is None else await _write(tx, struct(before, SourceRow), source)

        return await audited(self._database, "source", source.id, work)

    async def remove(self, source_id: int, uses: str | None = None) -> bool:
        async def work(tx: Transaction) -> bool:
            await tx.all("lock_source", id=source_id)
            row = await tx.one("source", id=source_id)
            if row is None or uses not in (None, row["uses"]):
                return False
            return await remove_source_row(tx, source_id)

        return await audited(self._database, "source", source_id, work)


async def remove_source_row(tx: Transaction, source_id: int) -> bool:
    """Delete a source; its schedules and runs stay, without a source."""
    await tx.all("let_go_of_source", id=source_id)
    await tx.all("let_go_of_source_runs", id=source_id)
    return await tx.one("remove_source", id=source_id) is not None


async def _joined(tx: Transaction, source: NewSource) -> SourceRow | None:
    """Return the source of this name that other APIs use, with the use added; None where there is no such source."""
    found = await tx.one("source_by_name", name=source.name)
    if found is None:
        return None
    await tx.all("lock_source", id=found["id"])
    found = await tx.one("source", id=found["id"])
    if found is None or source.use in decode_uses(found["uses"]):
        return None
    if parse(found["base_url"]).host != parse(source.base_url).host:
        raise Taken("name", f"there is a source called {source.name} on another host")
    before = struct(found, SourceRow)
    return await _write(tx, before, joined(before, source))


async def _write(tx: Transaction, before: SourceRow, source: SourceRow) -> SourceRow | None:
    if source.enabled and not before.enabled:
        # Otherwise the next failure alone would disable the source again.
        source = msgspec.structs.replace(source, failures=0)
    other_feed = before.feed_url != source.feed_url
    if other_feed:
        await tx.all("forget_feed", source_id=source.id)
    row = await tx.one("change_source", other_feed=other_feed, **_values(source))
    if before.feed_every_ms != source.feed_every_ms:
        await tx.all("repace_feed", source_id=source.id, every_ms=source.feed_every_ms)
    if before.sinks != source.sinks:
        await assign_source(tx, source.id)
    return struct(row, SourceRow) if row else None


def _values(source: SourceRow) -> dict[str, Any]:
    return {name: getattr(source, name) for name in (*SOURCE_COLUMNS, *FEED_COLUMNS)}


async def _refuse(tx: Transaction, source: NewSource) -> NoReturn:
    """Raise the error of a source that was not added."""
    if await tx.one("source_by_name", name=source.name) is not None:
        raise _name_taken(source.name)
    if source.slug is not None:
        raise _slug_taken(source.slug)
    raise TryAgain  # another process has just taken the slug that was made of the name


def _name_taken(name: str) -> Taken:
    return Taken("name", f"there is a source called {name}")


def _slug_taken(slug: str) -> Taken:
    return Taken("slug", f"there is a source with the slug {slug}")


async def add_source(tx: Transaction, source: NewSource) -> Row | None:
    """Insert a source, its feed and sitemaps due at once; return None when its name is taken."""
    values = msgspec.structs.asdict(source)
    uses = encode_uses([values.pop("use")])
    values["slug"] = source.slug or await _free_slug(tx, source.name)
    made = await tx.one("add_source", uid=new_id(), uses=uses, **values)
    if made is not None:
        await tx.all("begin_feed", source_id=made["id"])
        await tx.all("begin_sitemaps", source_id=made["id"])
    return made


async def _free_slug(tx: Transaction, name: str) -> str:
    slug = slug_of(name)
    rows = await tx.all("slugs_like", slug=slug, pattern=f"{literal(numbered_stem(slug))}%")
    return free_slug(slug, (row["slug"] for row in rows))


def _asked(query: SourceQuery) -> dict[str, Any]:
    return msgspec.structs.asdict(query) | {"search": contains(query.search), "name": contains(query.name)}
