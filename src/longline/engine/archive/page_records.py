"""WARC records of fetched pages, and the facts of the pages that are stored with them."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from longline.engine.fetch.fetcher import NOT_MODIFIED, Fetched
from longline.engine.fetch.request_sender import TimedResponse
from longline.model.archive.warc import (
    Capture,
    Original,
    WarcRecord,
    request_record,
    response_record,
    revisit_record,
)
from longline.model.frontier.task import KnownPage, PageFacts
from longline.model.urls.url import parse, target
from longline.ports.http import Response

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
        response, capture = self.response, capture_of(TimedResponse(self.fetched.at, self.response))
        same = self.known if self.original is not None else None
        status, content_type, body_bytes = self._response_facts()
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

    def _response_facts(self) -> tuple[int, str, int]:
        """Return status, content type and size of the page; after a 304 they are those of the earlier response."""
        response, original = self.response, self.original
        if original is not None and response.status == NOT_MODIFIED:
            return original.status, original.content_type, original.body_bytes
        return response.status, response.header("content-type") or "", len(response.body)

    @property
    def exchange(self) -> TimedResponse | None:
        """Return the exchange that brought the page."""
        return next((sent for sent in self.fetched.exchanges if sent.response is self.response), None)


def keep_page(
    fetched: Fetched, title: str, known: KnownPage | None = None, original: Original | None = None
) -> PageToKeep | None:
    """Return the page as it goes into a segment, or None when the fetch brought no page."""
    return PageToKeep(fetched, fetched.response, title, known, original) if fetched.response is not None else None


def capture_of(sent: TimedResponse) -> Capture:
    """Return a response as a record is made of it."""
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


class RecordBuilder:
    """A builder that makes the records of pages while pages still come in, so that the report need not wait.

    Records are made in a thread, where hashing and compressing release the GIL: one batch after the other.
    """

    def __init__(self, at_once: int = 32) -> None:
        self._at_once = at_once
        self._waiting: list[Callable[[], object]] = []
        self._compressing: asyncio.Future[None] | None = None

    def add(self, make: Callable[[], object]) -> None:
        """Queue a function that makes a record; a caller that needs the record before makes it itself."""
        self._waiting.append(make)
        if len(self._waiting) >= self._at_once and self._compressing is None:
            makes, self._waiting = self._waiting, []
            self._compressing = asyncio.ensure_future(asyncio.to_thread(_compress, makes))
            self._compressing.add_done_callback(self._compressed)

    def _compressed(self, done: "asyncio.Future[None]") -> None:
        self._compressing = None
        if not done.cancelled() and (error := done.exception()):
            # The caller that makes the record again gets the same error, and can handle it.
            log.debug("WARC record could not be prepared in advance", exc_info=error)


def _compress(makes: Sequence[Callable[[], object]]) -> None:
    for make in makes:
        make()


def request_record_of(sent: TimedResponse, response_id: str) -> WarcRecord:
    """Return the record of the request that brought a response."""
    url = sent.response.url
    capture = Capture(url, sent.at, 0, sent.headers, b"", ip=sent.response.ip)
    return request_record(capture, target(url), parse(url).host, response_id)
