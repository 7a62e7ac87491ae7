"""Server-sent events: frames, heartbeats, and clients that disconnect or fall behind."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
from litestar import Response
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from longline.surfaces.server.connection import mark_as_stream

HEARTBEAT_INTERVAL_SECONDS = 15.0
WRITE_TIMEOUT_SECONDS = 30.0
"""Seconds that a client may take to accept one frame."""

CREDENTIALS_CHECK_SECONDS = 5.0
"""Seconds between two looks at the credentials of a stream, which ends with them."""

_REFUSED = "refused"

EVENTS = "text/event-stream"
HEADERS = (
    (b"cache-control", b"no-cache"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)

_log = logging.getLogger(__name__)


def frame(event: str, data: Any, mark: object = None) -> bytes:
    """Return one event; `mark` is the event id, with which a client can resume here."""
    named = b"" if mark is None else f"id: {mark}\n".encode()
    # Encoded JSON has no raw line breaks, so one data line is enough.
    return named + f"event: {event}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


class EventStream(Response[None]):
    """A response that sends frames until they end or the client leaves, with heartbeats in between.

    Frames of another `media_type` than server-sent events are lines, and a heartbeat is an empty line.
    """

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        leave: Callable[[], None],
        lost: asyncio.Event | None = None,
        *,
        heartbeat: float = HEARTBEAT_INTERVAL_SECONDS,
        patience: float = WRITE_TIMEOUT_SECONDS,
        media_type: str = EVENTS,
    ) -> None:
        super().__init__(None)
        self._content_type = media_type
        self._frames, self._leave, self._lost = frames, leave, lost
        self._heartbeat, self._patience = heartbeat, patience
        self._is_served: Callable[[], Awaitable[bool]] | None = None

    def serve_while(self, is_served: Callable[[], Awaitable[bool]]) -> None:
        """End the stream when its client is not served any more."""
        self._is_served = is_served

    def to_asgi_response(self, *_: Any, **__: Any) -> ASGIApp:  # type: ignore[override]  # no argument is needed
        """Return the ASGI application that sends the stream."""
        return self._answer

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the frames end, or the client disconnects or falls behind."""
        mark_as_stream(scope)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self._headers()})
            if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await self._stream(receive, send)
        finally:
            await _close(self._frames)
            self._leave()

    def _headers(self) -> list[tuple[bytes, bytes]]:
        more = ((name.lower().encode(), value.encode()) for name, value in self.headers.items())
        return [(b"content-type", self._content_type.encode()), *HEADERS, *more]

    async def _stream(self, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        others: list[asyncio.Task[Any]] = [asyncio.create_task(_until_gone(receive))]
        if self._lost is not None:
            others.append(asyncio.create_task(self._lost.wait()))
        if self._is_served is not None:
            others.append(asyncio.create_task(_until_refused(self._is_served)))
        try:
            await asyncio.wait((sending, *others), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, *others):
                task.cancel()
            ended, *reasons = await asyncio.gather(sending, *others, return_exceptions=True)
        if isinstance(ended, TimeoutError) or (self._lost is not None and self._lost.is_set()):
            _log.info("slow stream client disconnected")
        elif isinstance(ended, Exception):
            raise ended
        elif ended is None or _REFUSED in reasons:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send) -> None:
        async def give(data: bytes) -> None:
            async with asyncio.timeout(self._patience):
                await send({"type": "http.response.body", "body": data, "more_body": True})

        now = asyncio.get_running_loop().time
        beat_at = now() + self._heartbeat
        while True:
            coming = asyncio.ensure_future(anext(self._frames, None))
            try:
                while not (await asyncio.wait({coming}, timeout=max(0.0, beat_at - now())))[0]:
                    await give(b":heartbeat\n\n" if self._content_type == EVENTS else b"\n")
                    beat_at = now() + self._heartbeat
            except BaseException:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
                raise
            data = coming.result()
            if data is None:
                return
            await give(data)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _until_refused(is_served: Callable[[], Awaitable[bool]]) -> str:
    while True:
        await asyncio.sleep(CREDENTIALS_CHECK_SECONDS)
        if not await is_served():
            return _REFUSED


async def _close(frames: AsyncIterator[bytes]) -> None:
    close = getattr(frames, "aclose", None)
    if close is not None:
        await close()
