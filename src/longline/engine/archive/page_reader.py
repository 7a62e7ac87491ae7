"""The archive: records read from their places in segments, and pages as they were fetched."""

import logging
from typing import NamedTuple

from longline.model.archive.page import MAX_DECODED_BYTES, PageRow
from longline.model.archive.warc import RESPONSE, DamagedRecord, Original, ParsedRecord, read_record, verified_record
from longline.model.errors import NotFound
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.frontier.task import KnownPage
from longline.plugins import Page
from longline.ports.blobs import Blobs
from longline.ports.records.archive import PageStore

log = logging.getLogger(__name__)


async def record_at(blobs: Blobs, segment: str, offset: int, length: int) -> ParsedRecord:
    """Return the record at a place in the archive, in a folder or on S3: one ranged read, nothing else."""
    return read_record(await blobs.get_range(segment, offset, length))


def body_in(record: ParsedRecord) -> bytes:
    """Return the body of a record, without its Content-Encoding."""
    return decode_body(record.headers, record.body, MAX_DECODED_BYTES)


class Earlier(NamedTuple):
    """An earlier page from the archive, and the record that holds its body."""

    page: Page
    original: Original


class PageReader:
    """A reader that finds the record of a task's page, or the earlier record that holds the same body."""

    def __init__(self, pages: PageStore, blobs: Blobs) -> None:
        self._pages, self._blobs = pages, blobs

    async def find(self, task_id: int) -> Page | None:
        """Return the page of a task, or None when its record is lost or damaged."""
        try:
            return (await self.page(task_id))[0]
        except (NotFound, DamagedRecord, Undecodable):
            return None

    async def earlier(self, known: KnownPage) -> Earlier | None:
        """Return the known page, or None when its record is lost or damaged: the page must be fetched whole."""
        try:
            row = await self.row(known.task_id)
            record = verified_record(await self._blobs.get_range(row.segment, row.start, row.length))
            if record.type != RESPONSE or record.field("WARC-Payload-Digest") != known.digest:
                raise DamagedRecord(f"the record of task {known.task_id} holds another page")
            page = Page(row.url, body_in(record), status=record.status or 0, headers=record.headers)
        except (NotFound, DamagedRecord, Undecodable) as error:
            log.warning(
                "archived page is damaged, fetching it again", extra={"task": known.task_id, "error": str(error)}
            )
            return None
        facts = (row.status, row.content_type, row.body_bytes)
        return Earlier(page, Original(record.url, record.fetched_at, known.digest, record.id, *facts))

    async def page(self, task_id: int) -> tuple[Page, PageRow]:
        """Return the page of a task with its row; raise `NotFound`, `DamagedRecord` or `Undecodable`."""
        row = await self.row(task_id)
        holder = await self.body_row(row)
        record = await record_at(self._blobs, holder.segment, holder.start, holder.length)
        if record.status is None or holder.body_of is not None or holder.digest != row.digest:
            raise DamagedRecord(f"the record of task {task_id} is no page")
        return Page(row.url, body_in(record), status=record.status, headers=record.headers), row

    async def row(self, task_id: int) -> PageRow:
        """Return the row of a task's page, or raise `NotFound`."""
        row = await self._pages.get(task_id)
        if row is None:
            raise NotFound("page", task_id, f"task {task_id} has no page in the archive")
        return row

    async def body_row(self, row: PageRow) -> PageRow:
        """Return the row whose record has the body of a page: its own, or that of the page that it is a revisit of."""
        if row.body_of is None:
            return row
        holder = await self._pages.get(row.body_of)
        if holder is None:
            found = f"task {row.body_of}, which has the body of this page, has none in the archive any more"
            raise NotFound("page", row.body_of, found)
        return holder
