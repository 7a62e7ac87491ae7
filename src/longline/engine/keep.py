"""Keep: pages go into WARC segments with group commit; only a durable segment lets its tasks be reported.

Before the object there is a row that says who is writing it, so that what a dead worker left behind can be cleared
away without listing the store. The report that names the pages makes the segment `stored` in the same transaction.
"""

from collections.abc import Sequence
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
from longline.ports.records.frontier import Written
from longline.ports.records.segments import Segments


class KeptPage(msgspec.Struct, frozen=True):
    """A page ready for a segment: its record, and its facts but for the place in the file."""

    record: Record
    facts: PageFacts


def keep_page(fetched: Fetched, title: str, known: Known | None = None) -> KeptPage | None:
    """The record of a fetched page; None when nothing was fetched that is kept.

    When it is the page that is `known`, by the word of the server or byte for byte, the body is not kept again.
    """
    response = fetched.response
    if response is None:
        return None
    capture = Capture(
        url=response.url,
        fetched_at=fetched.at,
        status=response.status,
        headers=response.headers,
        body=response.body,
    )
    same = fetched.same_as or _identical(capture, known)
    record = revisit_record(capture, Original(response.url, same.fetched_at, same.digest)) if same else None
    record = record or response_record(capture)
    facts = PageFacts(
        offset=0,
        length=len(record.member),
        digest=record.digest,
        status=response.status,
        content_type=response.header("content-type") or "",
        body_bytes=len(response.body),
        fetched_at=fetched.at,
        fetch_ms=response.elapsed_ms,
        url=response.url,
        title=title,
        etag=response.header("etag") or (same.etag if same else None),
        last_modified=response.header("last-modified") or (same.last_modified if same else None),
        body_of=same.task_id if same else None,
    )
    return KeptPage(record, facts)


def _identical(capture: Capture, known: Known | None) -> Known | None:
    return known if known is not None and payload_digest(capture.body) == known.digest else None


class Stored(msgspec.Struct, frozen=True):
    """A segment that is durable and waits for the report that names its pages; `facts` have each page's place."""

    key: str
    written: Written
    facts: tuple[PageFacts, ...]


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
        segment = Segment()
        facts = tuple(msgspec.structs.replace(p.facts, offset=segment.add(p.record).offset) for p in pages)
        await self._blobs.put(key, segment.parts)
        return Stored(key, Written(segment_id, segment.records, segment.size), facts)


def segment_key(now: int) -> str:
    """A key that nobody else will use, in the order of time."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    return f"warc/{at:%Y/%m/%d}/{at:%H%M%S}-{new_id()}.warc.gz"
