"""Archived pages, read back from a folder or from S3."""

import msgspec

from longline.engine.archive.page_reader import PageReader, body_in, record_at
from longline.model.archive.page import PageRow
from longline.model.archive.warc import DamagedRecord, ParsedRecord
from longline.model.errors import BadInput, LonglineError, NotFound
from longline.model.fetch.content_encoding import Undecodable
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import parse
from longline.plugins import Page
from longline.ports.blobs import Blobs
from longline.ports.records.archive import PageStore


class ArchivedPage(msgspec.Struct, frozen=True):
    """A page with its WARC record; `body` is without Content-Encoding."""

    row: PageRow
    record: ParsedRecord
    body: bytes

    def markdown(self) -> str:
        """Return the article of the page as Markdown; raise `BadInput` for a page that is not HTML."""
        page = Page(self.row.url, self.body, status=self.row.status, headers=self.record.headers)
        if "html" not in page.content_type.lower():
            kind = page.content_type or "without a content type"
            raise BadInput(f"{self.row.url} is not HTML but {kind}, and has no Markdown")
        return page.markdown()


class DamagedPage(LonglineError):
    """A page that is lost or damaged in the archive."""


class ArchivedPages:
    """Reader of archived pages."""

    def __init__(self, pages: PageStore, blobs: Blobs) -> None:
        self._pages, self._blobs, self._reader = pages, blobs, PageReader(pages, blobs)

    async def record(self, segment: str, offset: int, length: int) -> ParsedRecord:
        """Return the record at a place in the archive, with a single read of `length` bytes."""
        return await record_at(self._blobs, segment, offset, length)

    async def by_task(self, task_id: int) -> ArchivedPage:
        """Return the page that a task fetched."""
        return await self._read(await self._reader.row(task_id))

    async def by_url(self, url: str) -> ArchivedPage:
        """Return the latest capture of a URL."""
        asked = parse(url)
        captures = await self._pages.captures(asked.host, dedupe_key(asked.href))
        if not captures:
            raise NotFound(
                "page", asked.href, f"there is no page of {asked.href} in the archive; longline urls lists all fates"
            )
        return await self._read(captures[0])

    async def _read(self, row: PageRow) -> ArchivedPage:
        try:
            return await self._read_whole(row)
        except (NotFound, DamagedRecord, Undecodable) as error:
            found = f"the page of {row.url}, task {row.task_id}, is damaged in the archive"
            raise DamagedPage(f"{found}: {error}") from error

    async def _read_whole(self, row: PageRow) -> ArchivedPage:
        record, holder = await self._record(row), await self._reader.body_row(row)
        if holder is row:
            return ArchivedPage(row, record, body_in(record))
        original = await self._record(holder)
        if original.field("WARC-Payload-Digest") != row.digest:
            raise DamagedRecord(f"task {row.body_of}, which had the body of this page, has another one now")
        # A revisit after a 304 has no headers of its own.
        shown = record if record.headers else msgspec.structs.replace(record, headers=original.headers)
        return ArchivedPage(row, shown, body_in(original))

    async def _record(self, row: PageRow) -> ParsedRecord:
        return await self.record(row.segment, row.start, row.length)
