"""Exports: pages, items and URLs of a run, as files."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from longline.model.archive.page import PageRow, RedirectRow
from longline.model.archive.warc import Headers, info_record, read_record
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import NotFound
from longline.model.exports.export import WARC_NAME, ExportedFile
from longline.model.frontier.fate import UrlFilters
from longline.model.search.item import ItemRow
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.exports import Export
from longline.ports.records.archive import PageStore
from longline.ports.records.frontier.frontier import TaskStore
from longline.ports.records.search import ItemStore
from longline.services.archive.archive_check import Damage, problem_of
from longline.services.frontier.url_fates import UrlFates

CHUNK = 500
SEGMENTS_IN_HAND = 8
"""Segments that are cached in memory: consecutive pages lie in few segments."""

Progress = Callable[[int, int], None]
"""Callback with the pages written so far and the pages in total."""


class PageOut(msgspec.Struct, frozen=True):
    """A page as a row of an exported file."""

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


class PageWithHeaders(PageOut, frozen=True):
    """A page as a row of an exported file, with the headers of its response as JSON.

    Names are in lower case. The value of a header that came several times is a list. A damaged record has none.
    """

    headers: msgspec.Raw | None = None


class ItemOut(msgspec.Struct, frozen=True):
    """An item as a row of an exported file; `fields` is JSON."""

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


class Exported(msgspec.Struct, frozen=True):
    """The files of an export, the number of the run's pages, and the damaged records that were left out."""

    files: list[ExportedFile]
    pages: int
    damaged: list[Damage]


class ExportStores(NamedTuple):
    """The stores that an export reads."""

    pages: PageStore
    items: ItemStore
    tasks: TaskStore


class Exports:
    """Exports of a run's pages, items and URLs. `about` goes into the warcinfo record of a WARC file.

    With `headers`, tables of pages have the headers of responses, which are read from the archive.
    """

    def __init__(
        self,
        stores: ExportStores,
        blobs: Blobs,
        clock: Clock,
        about: Mapping[str, str] | None = None,
        *,
        headers: bool = False,
    ) -> None:
        self._pages, self._items, self._urls = stores.pages, stores.items, UrlFates(stores.tasks)
        self._blobs, self._clock, self._about, self._headers = blobs, clock, about or {}, headers

    async def run(self, run_id: int, export: Export, formats: Sequence[str], progress: Progress) -> Exported:
        """Write a run's pages, items and URLs in these formats; return damaged records, which no WARC file has."""
        tables = bool(set(formats) - {"warc", "markdown"})
        members = _Members(self._blobs, self._pages, run_id)
        done, total = 0, await self._pages.count(run_id)
        if "warc" in formats:
            await self._begin_warc(run_id, export, members, total)
        after = 0
        while pages := await self._pages.of_run(run_id, after=after, limit=CHUNK):
            if tables:
                await export.rows("pages", await self._page_rows(pages, members))
            if "warc" in formats:
                await export.members([member for row in pages for member in await members.of(row)])
            after, done = pages[-1].task_id, done + len(pages)
            progress(done, total)
        if tables:
            await self._write_items(run_id, export)
            async for urls in self._urls.batches(run_id, UrlFilters()):
                await export.rows("urls", urls)
        return Exported(await export.finish(), total, members.damaged)

    async def _page_rows(self, pages: Sequence[PageRow], members: "_Members") -> list[PageOut]:
        if not self._headers:
            return [_page(row) for row in pages]
        return [
            PageWithHeaders(**msgspec.structs.asdict(_page(row)), headers=encode_headers(await members.headers(row)))
            for row in pages
        ]

    async def _begin_warc(self, run_id: int, export: Export, members: "_Members", pages: int) -> None:
        """Write the warcinfo record and the redirects, unless the run has neither pages nor redirects."""
        redirects = await self._pages.redirects_of_run(run_id, limit=CHUNK)
        if not redirects and not pages:
            return
        await export.members([info_record(self._clock.now(), WARC_NAME, self._about).member])
        while redirects:
            await export.members([member for row in redirects for member in await members.of(row)])
            redirects = await self._pages.redirects_of_run(run_id, after=redirects[-1].task_id, limit=CHUNK)

    async def _write_items(self, run_id: int, export: Export) -> None:
        after = 0
        while items := await self._items.of_run(run_id, after=after, limit=CHUNK):
            await export.rows("items", [_item(row) for row in items])
            after = items[-1].position


class _Members:
    """Reader of records from segments, with a cache so that a segment is not read once per page."""

    def __init__(self, blobs: Blobs, pages: PageStore, run_id: int) -> None:
        self._blobs, self._pages, self._run_id = blobs, pages, run_id
        self._held: BoundedDict[str, bytes | None] = BoundedDict(SEGMENTS_IN_HAND)
        self.damaged: list[Damage] = []

    async def of(self, row: PageRow | RedirectRow) -> list[bytes]:
        """Return a page's record, preceded by the record with its body if another run has the body; none if damaged."""
        member, problem = await self._read(row)
        original: list[bytes] = []
        if isinstance(row, PageRow) and row.body_of is not None and problem is None:
            holder = await self._pages.get(row.body_of)
            if holder is None or holder.digest != row.digest:
                problem = f"task {row.body_of} no longer holds its body"
            else:
                body, fault = await self._read(holder)
                problem = f"its body is in the record of task {row.body_of}: {fault}" if fault else None
                original = [body] if holder.run_id != self._run_id else []
        if problem is not None:
            self.damaged.append(Damage(problem, row.segment, row.url, row.run_id, row.task_id))
            return []
        return [*original, member]

    async def headers(self, row: PageRow) -> Headers | None:
        """Return the headers of a page; a revisit of an unchanged page may have those of the earlier page only."""
        member, problem = await self._read(row)
        found = read_record(member).headers if problem is None else None
        if found or row.body_of is None:
            return found
        holder = await self._pages.get(row.body_of)
        return await self.headers(holder) if holder is not None and holder.body_of is None else None

    async def _read(self, row: PageRow | RedirectRow) -> tuple[bytes, str | None]:
        """Return the record of a row and, if damaged, its fault."""
        data = await self._segment(row.segment)
        if data is None:
            return b"", "the segment is lost"
        member = data[row.start : row.start + row.length]
        return member, problem_of(member, row)

    async def _segment(self, key: str) -> bytes | None:
        if key not in self._held:
            try:
                self._held[key] = await self._blobs.get(key)
            except NotFound:
                self._held[key] = None
        return self._held[key]


def encode_headers(headers: Headers | None) -> msgspec.Raw | None:
    """Return headers as a JSON object by names in lower case; the values of a repeated header are a list."""
    if headers is None:
        return None
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    found = {name: several[0] if len(several) == 1 else several for name, several in values.items()}
    return msgspec.Raw(msgspec.json.encode(found))


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
