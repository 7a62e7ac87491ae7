"""Notifications to another service about indexed documents, best effort."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from longline.engine.circuit_breaker import CircuitBreaker
from longline.model.errors import Unavailable
from longline.model.search import document as index
from longline.model.search.item import SearchDocument
from longline.model.timestamps import written
from longline.ports.clock import Clock

log = logging.getLogger(__name__)

MAX_WAITING = 1000
REQUEST_TIMEOUT_SECONDS = 2.0
CLOSE_TIMEOUT_SECONDS = 5.0

Post = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Function that sends one message, or raises `Unavailable`."""


class IndexNotifier:
    """A notifier that sends messages in the background; a message that fails is dropped."""

    def __init__(self, post: Post, clock: Clock, breaker: CircuitBreaker | None = None) -> None:
        self._post, self._clock, self._breaker = post, clock, breaker or CircuitBreaker()
        self._waiting: asyncio.Queue[SearchDocument] = asyncio.Queue(MAX_WAITING)

    def notify(self, documents: Sequence[SearchDocument]) -> None:
        """Queue messages about indexed documents; a full queue drops them."""
        for document in documents:
            if document.kind in index.RAW_CONTENT:
                with suppress(asyncio.QueueFull):
                    self._waiting.put_nowait(document)

    async def run(self) -> None:
        """Send queued messages, until cancelled."""
        while True:
            document = await self._waiting.get()
            try:
                await self._send(document)
            finally:
                self._waiting.task_done()

    async def drained(self) -> None:
        """Wait until all queued messages are sent, for CLOSE_TIMEOUT_SECONDS at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._waiting.join()

    async def _send(self, document: SearchDocument) -> None:
        if not self._breaker.allows(self._clock.monotonic()):
            return
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                await self._post(message(document, self._clock.now()))
        except (Unavailable, TimeoutError) as error:
            log.warning("pipeline not notified of a document", extra={"error": str(error)})
            self._breaker.note(self._clock.monotonic(), ok=False)
        else:
            self._breaker.note(self._clock.monotonic(), ok=True)


def message(document: SearchDocument, now: int) -> dict[str, Any]:
    """Return the message about a document."""
    stored = index.raw_content(document)
    return {
        "content_url": document.url,
        "source_name": stored["source_name"],
        "stage": "indexed",
        "occurred_at": written(now),
        "service_name": "crawler",
        "metadata": {
            "title": document.title,
            "word_count": stored["word_count"],
            "index_name": index.index_of(document),
            "document_id": stored["id"],
        },
    }
