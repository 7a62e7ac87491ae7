"""Segments: pages are written to WARC files with group commit; tasks are reported only after their segment is durable.

A row that names the owner is written before the object, so that segments of a dead worker can be deleted without
listing the store. The report that names the pages makes the segment `stored` in the same transaction.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import msgspec

from longline.engine.archive.page_records import KeptRedirect, PageToKeep, capture_of, request_record_of
from longline.model.archive.warc import (
    Segment,
    info_record,
    response_record,
)
from longline.model.frontier.task import PageFacts, RedirectFacts
from longline.model.object_keys import segment_key
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Response
from longline.ports.records.archive import SegmentStore
from longline.ports.records.frontier.frontier import WrittenSegment

log = logging.getLogger(__name__)


class StoredSegment(msgspec.Struct, frozen=True):
    """A segment that is durable and waits for the report that names its records.

    `facts` has the place of each page, and `redirects` the place of each redirect.
    """

    key: str
    written: WrittenSegment
    facts: tuple[PageFacts, ...]
    redirects: tuple[RedirectFacts, ...] = ()


class SegmentWriter:
    """A writer of segments for one worker. `about` goes into the warcinfo record; `requests` keeps requests too."""

    def __init__(
        self,
        blobs: Blobs,
        segments: SegmentStore,
        clock: Clock,
        owner: int,
        about: Mapping[str, str] | None = None,
        *,
        requests: bool = False,
    ) -> None:
        self._blobs, self._segments, self._clock, self._owner = blobs, segments, clock, owner
        self._about, self._requests = about or {}, requests

    async def write(self, pages: Sequence[PageToKeep], redirects: Sequence[KeptRedirect] = ()) -> StoredSegment:
        """Store pages and redirects durably as one new segment."""
        key = segment_key(self._clock.now())
        segment_id = await self._segments.begin(key, self._owner)
        return await self._put(key, segment_id, pages, redirects)

    async def rewrite(
        self, stored: StoredSegment, pages: Sequence[PageToKeep], redirects: Sequence[KeptRedirect] = ()
    ) -> StoredSegment:
        """Store a segment again without the pages that a report refused, so that every stored page is named."""
        return await self._put(stored.key, stored.written.segment_id, pages, redirects)

    async def discard(self, stored: StoredSegment) -> None:
        """Delete a segment that no report will ever name."""
        await self._blobs.delete([stored.key])
        await self._segments.drop(stored.written.segment_id)

    async def clear(self) -> None:
        """Delete every segment that was begun and never named by a report; only when none is under way."""
        for segment in await self._segments.abandoned([self._owner]):
            await self._blobs.delete([segment.key])
            await self._segments.drop(segment.id)

    async def _put(
        self, key: str, segment_id: int, pages: Sequence[PageToKeep], redirects: Sequence[KeptRedirect]
    ) -> StoredSegment:
        # In a thread: hashing and compressing release the GIL.
        segment, facts, hops = await asyncio.to_thread(self._segment, key, pages, redirects)
        await self._blobs.put(key, segment.parts)
        return StoredSegment(key, WrittenSegment(segment_id, len(facts), segment.size), facts, hops)

    def _segment(
        self, key: str, pages: Sequence[PageToKeep], redirects: Sequence[KeptRedirect]
    ) -> tuple[Segment, tuple[PageFacts, ...], tuple[RedirectFacts, ...]]:
        segment, facts = Segment(), []
        segment.add(info_record(self._clock.now(), key.rpartition("/")[2], self._about))
        hops = tuple(self._add_redirect(segment, redirect) for redirect in redirects)
        for page in pages:
            record, fact = page.made()
            facts.append(msgspec.structs.replace(fact, start=segment.add(record).offset))
            if self._requests and (sent := page.exchange):
                segment.add(request_record_of(sent, record.id))
        return segment, tuple(facts), hops

    def _add_redirect(self, segment: Segment, redirect: KeptRedirect) -> RedirectFacts:
        sent = redirect.sent
        record = response_record(capture_of(sent))
        place = segment.add(record)
        if self._requests:
            segment.add(request_record_of(sent, record.id))
        return RedirectFacts(
            task_id=redirect.task_id,
            number=redirect.number,
            start=place.offset,
            length=place.length,
            digest=record.digest,
            status=sent.response.status,
            fetched_at=sent.at,
            url=sent.response.url,
            target=_target(sent.response),
        )


def _target(response: Response) -> str | None:
    """Return the URL that a redirect leads to, or None for a redirect to something else."""
    try:
        return response.leads_to(response.url)
    except FetchFailed:
        return None
