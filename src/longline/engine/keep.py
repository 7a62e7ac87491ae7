"""Keep: pages go into WARC segments with group commit; only a durable segment lets its tasks be reported.

Before the object there is a row that says who is writing it, so that what a dead worker left behind can be cleared
away without listing the store. The report that names the pages makes the segment `stored` in the same transaction.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from longline.engine.fetch import Fetched
from longline.model.ids import new_id
from longline.model.task import Known, PageFacts
from longline.model.warc import (
    Capture,
    Original,
    Record,
    Segment,
    payload_digest,
    response_record,
    revisit_record,
)
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.http import Response
from longline.ports.records.frontier import Written
from longline.ports.records.segments import Segments

log = logging.getLogger(__name__)


class KeptPage(msgspec.Struct, frozen=True):
    """A page ready for a segment. When it is the one that is `known`, byte for byte, the body is not kept again."""

    fetched: Fetched
    response: Response
    title: str = ""
    known: Known | None = None
    _made: list[tuple[Record, PageFacts]] = []

    def made(self) -> tuple[Record, PageFacts]:
        """The record, and the facts but for the place in the file. Costs more than all the rest: not for the loop."""
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def _make(self) -> tuple[Record, PageFacts]:
        response = self.response
        capture = Capture(
            url=response.url,
            fetched_at=self.fetched.at,
            status=response.status,
            headers=response.headers,
            body=response.body,
        )
        same = self.fetched.same_as or _identical(capture, self.known)
        record = _revisit(capture, same) if same else response_record(capture)
        facts = PageFacts(
            offset=0,
            length=len(record.member),
            digest=record.digest,
            status=response.status,
            content_type=response.header("content-type") or "",
            body_bytes=len(response.body),
            fetched_at=self.fetched.at,
            fetch_ms=response.elapsed_ms,
            url=response.url,
            title=self.title,
            etag=response.header("etag") or (same.etag if same else None),
            last_modified=response.header("last-modified") or (same.last_modified if same else None),
            body_of=same.task_id if same else None,
        )
        return record, facts


def keep_page(fetched: Fetched, title: str, known: Known | None = None) -> KeptPage | None:
    """A fetched page to be kept; None when nothing was fetched that is."""
    return KeptPage(fetched, fetched.response, title, known) if fetched.response is not None else None


def _identical(capture: Capture, known: Known | None) -> Known | None:
    return known if known is not None and payload_digest(capture.body) == known.digest else None


def _revisit(capture: Capture, same: Known) -> Record:
    return revisit_record(capture, Original(capture.url, same.fetched_at, same.digest))


class Stored(msgspec.Struct, frozen=True):
    """A segment that is durable and waits for the report that names its pages; `facts` have each page's place."""

    key: str
    written: Written
    facts: tuple[PageFacts, ...]


class Press:
    """Makes what a report needs of its pages while pages still come in, so that the report need not wait for it.

    In a thread, where hashing and compressing let others run: one after the other, some pages at a time.
    """

    def __init__(self, at_once: int = 32) -> None:
        self._at_once = at_once
        self._waiting: list[Callable[[], object]] = []
        self._pressing: asyncio.Future[None] | None = None

    def add(self, make: Callable[[], object]) -> None:
        """Take in how to make something of a page; whoever needs it before it was made makes it himself."""
        self._waiting.append(make)
        if len(self._waiting) >= self._at_once and self._pressing is None:
            makes, self._waiting = self._waiting, []
            self._pressing = asyncio.ensure_future(asyncio.to_thread(_press, makes))
            self._pressing.add_done_callback(self._pressed)

    def _pressed(self, done: "asyncio.Future[None]") -> None:
        self._pressing = None
        if not done.cancelled() and (error := done.exception()):
            # Whoever makes it again will be told the same, and is in a place to do something about it.
            log.debug("something could not be made ahead", exc_info=error)


def _press(makes: Sequence[Callable[[], object]]) -> None:
    for make in makes:
        make()


class Keeper:
    """Writes segments for one worker."""

    def __init__(self, blobs: Blobs, segments: Segments, clock: Clock, owner: int) -> None:
        self._blobs, self._segments, self._clock, self._owner = blobs, segments, clock, owner

    async def write(self, pages: Sequence[KeptPage]) -> Stored:
        """Store pages durably as one new segment."""
        key = segment_key(self._clock.now())
        segment_id = await self._segments.begin(key, self._owner)
        return await self._put(key, segment_id, pages)

    async def rewrite(self, stored: Stored, pages: Sequence[KeptPage]) -> Stored:
        """Store a segment again with fewer pages, because a report refused some: what is kept is what is named."""
        return await self._put(stored.key, stored.written.segment_id, pages)

    async def discard(self, stored: Stored) -> None:
        """Take back a segment that no report will ever name."""
        await self._blobs.delete([stored.key])
        await self._segments.drop(stored.written.segment_id)

    async def clear(self) -> None:
        """Take back every segment that was begun and never named by a report, when none is under way."""
        for segment in await self._segments.abandoned([self._owner]):
            await self._blobs.delete([segment.key])
            await self._segments.drop(segment.id)

    async def _put(self, key: str, segment_id: int, pages: Sequence[KeptPage]) -> Stored:
        # In a thread: hashing and compressing let others run meanwhile.
        segment, facts = await asyncio.to_thread(_segment, pages)
        await self._blobs.put(key, segment.parts)
        return Stored(key, Written(segment_id, segment.records, segment.size), facts)


def _segment(pages: Sequence[KeptPage]) -> tuple[Segment, tuple[PageFacts, ...]]:
    segment, places = Segment(), []
    for page in pages:
        record, facts = page.made()
        places.append(msgspec.structs.replace(facts, offset=segment.add(record).offset))
    return segment, tuple(places)


def segment_key(now: int) -> str:
    """A key that nobody else will use, in the order of time."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    return f"warc/{at:%Y/%m/%d}/{at:%H%M%S}-{new_id()}.warc.gz"
