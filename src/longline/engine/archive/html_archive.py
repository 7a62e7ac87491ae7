"""The HTML archive: every HTML response as an object of its own, under the key that the interval contract gives it.

The HTML archive stands beside the WARC archive for readers of such objects; no crawl waits or fails because of it.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import msgspec

from longline.model.archive.page import MAX_DECODED_BYTES
from longline.model.errors import Unavailable
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.object_keys import html_copy_key
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.search.document import index_for
from longline.plugins.parser import HTML as HTML_TYPES
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.http import Response

log = logging.getLogger(__name__)

MAX_WAITING = 100
MAX_CONCURRENT_UPLOADS = 4
RETRY_PAUSES_SECONDS = (1.0, 2.0, 4.0)
UPLOAD_TIMEOUT_SECONDS = 30.0
CLOSE_TIMEOUT_SECONDS = 10.0

HTML = "text/html; charset=utf-8"


class HtmlCopy(msgspec.Struct, frozen=True):
    """A response to be archived, requested at the time `at` for the source of that name."""

    source: str
    at: int
    response: Response

    @property
    def key(self) -> str:
        """Return the key of the object."""
        return html_copy_key(self.source, self.at, self.response.url)

    @property
    def labels(self) -> dict[str, str]:
        """Return the metadata of the object in the store."""
        facts = {"url": self.response.url, "source": self.source, "crawled-at": self._at}
        quoted = {name: quote(value, safe=":/?#[]@!$&'()*+,;=%. ") for name, value in facts.items()}
        return quoted | {"status-code": str(self.response.status), "Content-Type": HTML}

    def facts(self, size: int) -> dict[str, Any]:
        """Return the facts that are stored beside the object."""
        url, response = self.response.url, self.response
        indexed = {"es_index": index_for(self.source, url), "es_document_id": sha256(url.encode()).hexdigest()}
        return {
            "url": url,
            "url_hash": sha256(url.encode()).hexdigest(),
            "source_name": self.source,
            "crawled_at": self._at,
            "status_code": response.status,
            "content_type": response.header("content-type"),
            "content_length": size,
            "headers": dict(response.headers),
            "object_key": self.key,
        } | (indexed if response.status == 200 else {})

    @property
    def _at(self) -> str:
        return datetime.fromtimestamp(self.at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class HtmlArchive:
    """An archive that stores responses in the background; `beside` is the store of their facts."""

    def __init__(self, blobs: Blobs, beside: Blobs, clock: Clock) -> None:
        self._blobs, self._beside, self._clock = blobs, beside, clock
        self._waiting: asyncio.Queue[HtmlCopy] = asyncio.Queue(MAX_WAITING)

    def observe(self, plan: CrawlPlan, at: int, response: Response) -> None:
        """Queue an HTML response; polled documents and other content types are left out."""
        if not plan.parse.enabled or not _is_html(response):
            return
        try:
            self._waiting.put_nowait(HtmlCopy(plan.source_name, at, response))
        except asyncio.QueueFull:
            log.warning("HTML archive queue is full, page not archived", extra={"url": response.url})

    async def run(self) -> None:
        """Store queued responses, until cancelled."""
        async with asyncio.TaskGroup() as uploads:
            for _ in range(MAX_CONCURRENT_UPLOADS):
                uploads.create_task(self._store_all())

    async def drained(self) -> None:
        """Wait until all queued responses are stored, for `CLOSE_TIMEOUT_SECONDS` at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._waiting.join()
                return
        log.warning("HTML archive not finished before the shutdown deadline", extra={"left": self._waiting.qsize()})

    async def _store_all(self) -> None:
        while True:
            copy = await self._waiting.get()
            try:
                await self._store(copy)
            except Exception:
                log.exception("unexpected error in the HTML archive", extra={"url": copy.response.url})
            finally:
                self._waiting.task_done()

    async def _store(self, copy: HtmlCopy) -> None:
        body = await asyncio.to_thread(_decoded, copy.response)
        if not await self._put(self._blobs, copy.key, body, copy.labels):
            return
        facts = msgspec.json.encode({name: fact for name, fact in copy.facts(len(body)).items() if fact is not None})
        aside = copy.key.removesuffix(".html") + ".meta.json"
        await self._put(self._beside, aside, facts, {"Content-Type": "application/json"})

    async def _put(self, blobs: Blobs, key: str, data: bytes, labels: Mapping[str, str]) -> bool:
        """Store an object, with retries; return False and log a warning when all attempts fail."""
        for pause in (*RETRY_PAUSES_SECONDS, None):
            try:
                async with asyncio.timeout(UPLOAD_TIMEOUT_SECONDS):
                    await blobs.put(key, data, labels)
                return True
            except (Unavailable, TimeoutError) as error:
                if pause is None:
                    log.warning("page not stored in the HTML archive", extra={"key": key, "error": str(error)})
                else:
                    await self._clock.sleep(pause)
        return False


def _is_html(response: Response) -> bool:
    """Return True for an HTML content type; a response without a Content-Type may be HTML."""
    return response.media_type in ("", *HTML_TYPES)


def _decoded(response: Response) -> bytes:
    try:
        return decode_body(response.headers, response.body, MAX_DECODED_BYTES)
    except Undecodable:
        return response.body
