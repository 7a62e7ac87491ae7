"""The archive: records read from their places in segments, and pages as they were fetched."""

import logging
from typing import NamedTuple

from longline.model.archive.warc import RESPONSE, DamagedRecord, Original, ParsedRecord, read_record, verified_record
from longline.model.errors import NotFound
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.frontier.task import KnownPage, PageFacts
from longline.plugins import Page
from longline.ports.blobs import Blobs
from longline.ports.records.frontier import TaskStore

log = logging.getLogger(__name__)

MAX_BODY = 64 * 1024 * 1024


async def record_at(blobs: Blobs, segment: str, offset: int, length: int) -> ParsedRecord:
    """Return the record at a place in the archive, in a folder or on S3: one ranged read, nothing else."""
    return read_record(await blobs.get_range(segment, offset, length))


def body_in(record: ParsedRecord) -> bytes:
    """Return the body of a record, without its Content-Encoding."""
    return decode_body(record.headers, record.body, MAX_BODY)


class Earlier(NamedTuple):
    """An earlier page from the archive, and the record that holds its body."""

    page: Page
    original: Original


class PageReader:
    """A reader that finds the record of a task's page, or the earlier record that holds the same body."""

    def __init__(self, tasks: TaskStore, blobs: Blobs) -> None:
        self._tasks, self._blobs = tasks, blobs

    async def find(self, task_id: int) -> Page | None:
        """Return the page of a task, or None when its record is lost or damaged."""
        try:
            return (await self.page(task_id))[0]
        except (NotFound, DamagedRecord, Undecodable):
            return None

    async def earlier(self, known: KnownPage) -> Earlier | None:
        """Return the known page, or None when its record is lost or damaged: the page must be fetched whole."""
        try:
            key, facts = await self._facts(known.task_id)
            record = verified_record(await self._blobs.get_range(key, facts.start, facts.length))
            if record.type != RESPONSE or record.field("WARC-Payload-Digest") != known.digest:
                raise DamagedRecord(f"the record of task {known.task_id} holds another page")
            page = Page(facts.url, body_in(record), status=record.status or 0, headers=record.headers)
        except (NotFound, DamagedRecord, Undecodable) as error:
            log.warning(
                "archived page is damaged, fetching it again", extra={"task": known.task_id, "error": str(error)}
            )
            return None
        return Earlier(page, Original(record.url, record.fetched_at, known.digest, record.id))

    async def page(self, task_id: int) -> tuple[Page, PageFacts]:
        """Return the page of a task with its facts; raise `NotFound`, `DamagedRecord` or `Undecodable`."""
        facts = await self._facts(task_id)
        key, holder = facts if facts[1].body_of is None else await self._facts(facts[1].body_of)
        record = await record_at(self._blobs, key, holder.start, holder.length)
        if record.status is None or holder.body_of is not None or holder.digest != facts[1].digest:
            raise DamagedRecord(f"the record of task {task_id} is no page")
        return Page(facts[1].url, body_in(record), status=record.status, headers=record.headers), facts[1]

    async def _facts(self, task_id: int) -> tuple[str, PageFacts]:
        found = await self._tasks.page(task_id)
        if found is None:
            raise NotFound("page", task_id, f"task {task_id} has no page in the archive")
        return found
