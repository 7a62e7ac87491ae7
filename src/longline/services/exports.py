"""Exports: pages and items of a run, as files."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from longline.model.export import Written
from longline.model.item import ItemRow
from longline.model.page import PageRow
from longline.ports.blobs import Blobs
from longline.ports.exports import Export
from longline.ports.records.items import Items
from longline.ports.records.pages import Pages

CHUNK = 500
SEGMENTS_IN_HAND = 8
"""Pages that follow each other lie in few segments; so many are kept in memory to take them from."""

Progress = Callable[[int, int], None]
"""Told how many pages and items of how many are done."""


class PageOut(msgspec.Struct, frozen=True):
    """A page as files tell of it."""

    url: str
    status: int
    title: str
    content_type: str
    bytes: int
    fetched_at: datetime
    fetch_ms: int
    depth: int
    digest: str
    etag: str | None
    last_modified: str | None
    segment: str
    offset: int
    length: int
    task_id: int
    run_id: int


class ItemOut(msgspec.Struct, frozen=True):
    """An item as files tell of it; `fields` is JSON."""

    id: int
    kind: str
    url: str
    title: str
    body: str
    fields: msgspec.Raw
    price: float | None
    rating: float | None
    availability: str | None
    brand: str | None
    category: str | None
    created_at: datetime
    updated_at: datetime
    source_id: int
    task_id: int
    run_id: int


class Exports:
    """Writes what a run brought into an export."""

    def __init__(self, pages: Pages, items: Items, blobs: Blobs) -> None:
        self._pages, self._items, self._blobs = pages, items, blobs

    async def run(self, run_id: int, export: Export, formats: Sequence[str], progress: Progress) -> list[Written]:
        """Write a run's pages and items in these formats; the files."""
        tables = bool(set(formats) - {"warc"})
        members = _Members(self._blobs) if "warc" in formats else None
        done, total = 0, await self._pages.count(run_id)
        after = 0
        while pages := await self._pages.of_run(run_id, after=after, limit=CHUNK):
            if tables:
                await export.rows("pages", [_page(row) for row in pages])
            if members is not None:
                await export.members([await members.get(row) for row in pages])
            after, done = pages[-1].task_id, done + len(pages)
            progress(done, total)
        if tables:
            await self._write_items(run_id, export)
        return await export.finish()

    async def _write_items(self, run_id: int, export: Export) -> None:
        after = 0
        while items := await self._items.of_run(run_id, after=after, limit=CHUNK):
            await export.rows("items", [_item(row) for row in items])
            after = items[-1].id


class _Members:
    """Takes records out of segments, each of which is read once and not once a page."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._held: OrderedDict[str, bytes] = OrderedDict()

    async def get(self, row: PageRow) -> bytes:
        if row.segment not in self._held:
            self._held[row.segment] = await self._blobs.get(row.segment)
            if len(self._held) > SEGMENTS_IN_HAND:
                self._held.popitem(last=False)
        return self._held[row.segment][row.start : row.start + row.length]


def _page(row: PageRow) -> PageOut:
    facts = msgspec.structs.asdict(row)
    return PageOut(
        **{name: facts[name] for name in PageOut.__struct_fields__ if name in facts and name != "fetched_at"},
        bytes=row.body_bytes,
        offset=row.start,
        fetched_at=_time(row.fetched_at),
    )


def _item(row: ItemRow) -> ItemOut:
    facts = msgspec.structs.asdict(row)
    times = {"created_at": _time(row.created_at), "updated_at": _time(row.updated_at)}
    known = {name: facts[name] for name in ItemOut.__struct_fields__}
    return ItemOut(**known | times | {"fields": msgspec.Raw(row.fields.encode())})


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
