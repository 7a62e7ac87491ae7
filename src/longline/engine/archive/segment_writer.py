"""Segments: pages are written to WARC files with group commit; tasks are reported only after their segment is durable.

A row that names the owner is written before the object, so that segments of a dead worker can be deleted without
listing the store. The report that names the pages makes the segment `stored` in the same transaction.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from longline.engine.fetch.fetcher import NOT_MODIFIED, Fetched
from longline.engine.fetch.request_sender import TimedResponse
from longline.model.archive.warc import (
    Capture,
    Original,
    Segment,
    WarcRecord,
    info_record,
    request_record,
    response_record,
    revisit_record,
)
from longline.model.frontier.task import KnownPage, PageFacts, RedirectFacts
from longline.model.ids import new_id
from longline.model.url import parse, target
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Response
from longline.ports.records.archive import SegmentStore
from longline.ports.records.frontier.frontier import WrittenSegment

log = logging.getLogger(__name__)


class PageToKeep(msgspec.Struct, frozen=True):
    """A page ready for a segment.

    `known` is the earlier page with the same body, and `original` the record that holds that body: with both, the page
    becomes a revisit record and its body is not stored again.
    """

    fetched: Fetched
    response: Response
    title: str = ""
    known: KnownPage | None = None
    original: Original | None = None
    _made: list[tuple[WarcRecord, PageFacts]] = []

    def made(self) -> tuple[WarcRecord, PageFacts]:
        """Return the record, and the facts without the offset. Costs more than all the rest: not for the event loop."""
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def _make(self) -> tuple[WarcRecord, PageFacts]:
        response, capture = self.response, _capture(TimedResponse(self.fetched.at, self.response))
        same = self.known if self.original is not None else None
        status, content_type, body_bytes = self._told()
        record = revisit_record(capture, self.original) if self.original else response_record(capture)
        facts = PageFacts(
            start=0,
            length=len(record.member),
            digest=record.digest,
            status=status,
            content_type=content_type,
            body_bytes=body_bytes,
            fetched_at=self.fetched.at,
            fetch_ms=response.elapsed_ms,
            url=response.url,
            title=self.title,
            etag=response.header("etag") or (same.etag if same else None),
            last_modified=response.header("last-modified") or (same.last_modified if same else None),
            body_of=same.task_id if same else None,
        )
        return record, facts

    def _told(self) -> tuple[int, str, int]:
        """Return status, content type and size of the page; after a 304 they are those of the earlier response."""
        response, original = self.response, self.original
        if original is not None and response.status == NOT_MODIFIED:
            return original.status, original.content_type, original.body_bytes
        return response.status, response.header("content-type") or "", len(response.body)

    @property
    def asked(self) -> TimedResponse | None:
        """Return the exchange that brought the page."""
        return next((sent for sent in self.fetched.exchanges if sent.response is self.response), None)


def keep_page(
    fetched: Fetched, title: str, known: KnownPage | None = None, original: Original | None = None
) -> PageToKeep | None:
    """Return the page as it goes into a segment, or None when the fetch brought no page."""
    return PageToKeep(fetched, fetched.response, title, known, original) if fetched.response is not None else None


def _capture(sent: TimedResponse) -> Capture:
    response = sent.response
    return Capture(
        url=response.url,
        fetched_at=sent.at,
        status=response.status,
        headers=response.headers,
        body=response.body,
        ip=response.ip,
    )


class KeptRedirect(NamedTuple):
    """A redirect on the way to a task's page, as it goes into a segment."""

    task_id: int
    number: int
    sent: TimedResponse


class StoredSegment(msgspec.Struct, frozen=True):
    """A segment that is durable and waits for the report that names its records.

    `facts` has the place of each page, and `redirects` the place of each redirect.
    """

    key: str
    written: WrittenSegment
    facts: tuple[PageFacts, ...]
    redirects: tuple[RedirectFacts, ...] = ()


class RecordBuilder:
    """A builder that makes the records of pages while pages still come in, so that the report need not wait.

    Records are made in a thread, where hashing and compressing release the GIL: one batch after the other.
    """

    def __init__(self, at_once: int = 32) -> None:
        self._at_once = at_once
        self._waiting: list[Callable[[], object]] = []
        self._pressing: asyncio.Future[None] | None = None

    def add(self, make: Callable[[], object]) -> None:
        """Queue a function that makes a record; a caller that needs the record before makes it itself."""
        self._waiting.append(make)
        if len(self._waiting) >= self._at_once and self._pressing is None:
            makes, self._waiting = self._waiting, []
            self._pressing = asyncio.ensure_future(asyncio.to_thread(_press, makes))
            self._pressing.add_done_callback(self._pressed)

    def _pressed(self, done: "asyncio.Future[None]") -> None:
        self._pressing = None
        if not done.cancelled() and (error := done.exception()):
            # The caller that makes the record again gets the same error, and can handle it.
            log.debug("WARC record could not be prepared in advance", exc_info=error)


def _press(makes: Sequence[Callable[[], object]]) -> None:
    for make in makes:
        make()


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
            if self._requests and (sent := page.asked):
                segment.add(_request(sent, record.id))
        return segment, tuple(facts), hops

    def _add_redirect(self, segment: Segment, redirect: KeptRedirect) -> RedirectFacts:
        sent = redirect.sent
        record = response_record(_capture(sent))
        place = segment.add(record)
        if self._requests:
            segment.add(_request(sent, record.id))
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


def _request(sent: TimedResponse, response_id: str) -> WarcRecord:
    url = sent.response.url
    capture = Capture(url, sent.at, 0, sent.headers, b"", ip=sent.response.ip)
    return request_record(capture, target(url), parse(url).host, response_id)


def segment_key(now: int) -> str:
    """Return a unique key, in the order of time."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    return f"warc/{at:%Y/%m/%d}/{at:%H%M%S}-{new_id()}.warc.gz"
