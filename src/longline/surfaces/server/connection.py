"""Client connections with deadlines for the request and for the response."""

import asyncio
import sys
from typing import Any, NamedTuple

import msgspec
import uvicorn
from httptools import HttpParserError
from litestar.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from longline.surfaces.server.request_head import (
    BAD_VERSION,
    HEAD_TOO_LARGE,
    TOO_LARGE,
    Refusal,
    refusal_of,
    refuse,
)
from longline.surfaces.server.request_limits import MAX_BODY_BYTES, MAX_HEAD_BYTES

NEVER = float("inf")
LINGER_SECONDS = 5.0
"""Seconds for a client to read a refusal while it still sends the refused body."""

_LENGTH_OVERFLOW = "Content-Length overflow"
"""The parser's error for a Content-Length beyond 64 bits."""

_STREAM = "longline.stream"
_TOO_SLOW = Refusal(408, "Request timed out")


class Deadlines(NamedTuple):
    """Seconds for a request to arrive, for its response to be received, and for the next request to begin."""

    read: float = 30.0
    write: float = 60.0
    idle: float = 120.0


def _answer_to(refusal: Refusal) -> bytes:
    """Return the response to a request that is refused before the application."""
    body = msgspec.json.encode({"error": refusal.text})
    head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return STATUS_LINE[refusal.status] + head.encode() + body


class _Lingering:
    """A transport that is closed in two steps: its sending side, then the whole, at the client's close or after 5 s.

    Closing a socket with unread bytes resets the connection, and the client may lose the response.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._closing = transport, loop, False

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def is_closing(self) -> bool:
        return self._closing or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        self._closing = True
        self._transport.write_eof()
        self._loop.call_later(LINGER_SECONDS, self._transport.abort)


def mark_as_stream(scope: Scope) -> None:
    """Mark a request as a stream, which has no deadline for its response."""
    scope["state"][_STREAM] = True


USUAL = Deadlines()


class TimedConfig(uvicorn.Config):
    """The settings of uvicorn, with deadlines."""

    def __init__(self, app: Any, deadlines: Deadlines, **more: Any) -> None:
        super().__init__(app, http=TimedConnection, timeout_keep_alive=deadlines.idle, **more)  # type: ignore[arg-type]  # fractions will do
        self.deadlines = deadlines


class TimedConnection(HttpToolsProtocol):
    """A connection that is closed when the client is too slow.

    One timer for both deadlines is re-armed when it fires, so that a request reads the clock only twice. A request
    that does not arrive in time is answered with 408 if possible; if a response is not received in time, the connection
    is aborted. A request that is refused because of its head, or of a body that is too large, is answered at once;
    further data of its client is discarded, and the connection ends.
    """

    def __init__(
        self,
        config: TimedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadlines = config.deadlines
        self._read_by = self._taken_by = NEVER
        self._begun = self._headed = self._discarding = False
        self._head_bytes = self._body_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._read_by = self.loop.time() + self._deadlines.read
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._discarding:
            return
        super().data_received(data)
        if self._begun and not self._headed and not self._discarding:
            self._check_unfinished_head(data)

    def _check_unfinished_head(self, data: bytes) -> None:
        """Refuse a head that grows too large, and a request line without a version, after which no head follows."""
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._reject(HEAD_TOO_LARGE)
        elif self.url and data.endswith(b"\n") and self.parser.get_http_version() == "0.0":
            self._reject(BAD_VERSION)

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser, whose error is being handled, refused; of a head with a path the application does."""
        refusal = TOO_LARGE if str(sys.exception()) == _LENGTH_OVERFLOW else Refusal(400, msg)
        if self._begun and not self._headed and self.url and self.parser.get_http_version() != "0.0":
            self._headed = True
            try:
                self._begin(refusal)
            except HttpParserError:
                self._reject(refusal)
        else:
            self._reject(refusal)

    def _reject(self, refusal: Refusal) -> None:
        """Answer invalid data with a refusal, after the responses to earlier requests."""
        self._discarding = True
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not (self._begun and self._headed):
            self._end_with(cycle)
        elif not self._is_torn_by_an_answer():
            if cycle is not None:
                # The application may already handle the request: for the application the client has disconnected.
                refuse(cycle.scope["state"], refusal)
                cycle.disconnected = True
                cycle.message_event.set()
            lingering = _Lingering(self.transport, self.loop)
            lingering.write(_answer_to(refusal))
            lingering.close()
        else:
            self.transport.abort()

    def _is_torn_by_an_answer(self) -> bool:
        """Return whether a response written here would mix with a response of the application."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return False
        return not self._headed or cycle.response_started or bool(self.pipeline)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begun, self._headed = True, False
        self._head_bytes = self._body_bytes = 0
        self._read_by = self.loop.time() + self._deadlines.read
        self._watch()

    def on_headers_complete(self) -> None:
        self._headed = True
        if self._discarding:
            return
        self._begin(refusal_of(self.parser.get_http_version(), self.headers))

    def _begin(self, refusal: Refusal | None) -> None:
        """Pass a request to the application, which answers it, or its refusal."""
        if refusal is not None:
            refuse(self.scope["state"], refusal)
        super().on_headers_complete()
        if refusal is not None:
            self.cycle.more_body = False
            self._discard()
        self._taken_by = self.loop.time() + self._deadlines.write
        self._watch()

    def on_body(self, body: bytes) -> None:
        if self._discarding:
            return
        super().on_body(body)
        self._body_bytes += len(body)
        if self._body_bytes > MAX_BODY_BYTES:
            self._discard()

    def _discard(self) -> None:
        """Discard further data of this client; the connection ends with the response to the current request."""
        self._discarding = True
        self._end_with(self.cycle)

    def _end_with(self, cycle: RequestResponseCycle) -> None:
        lingering: Any = _Lingering(self.transport, self.loop)
        cycle.keep_alive, cycle.transport = False, lingering
        if cycle.response_complete:
            lingering.close()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._begun, self._read_by = False, NEVER

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.get_write_buffer_size():
            self._taken_by = NEVER

    def _watch(self) -> None:
        due = min(self._read_by, self._taken_by)
        if self._timer is None or due < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self.loop.call_at(due, self._look) if due < NEVER else None

    def _look(self) -> None:
        self._timer, now = None, self.loop.time()
        if self._read_by <= now:
            self._not_sent()
        elif self._taken_by <= now:
            self._not_taken()
        if not self.transport.is_closing():
            self._watch()

    def _not_sent(self) -> None:
        """Close the connection of a late request, with a 408 if it has begun and no other response is under way."""
        cycle, self._read_by = self.cycle, NEVER
        answered = cycle is None or cycle.response_complete
        if answered and (self._headed or not self._begun):
            self.transport.close()
        elif not self._is_torn_by_an_answer():
            if not answered:
                refuse(cycle.scope["state"], _TOO_SLOW)
            self.transport.write(_answer_to(_TOO_SLOW))
            self.transport.close()
        else:
            self.transport.abort()

    def _not_taken(self) -> None:
        """Abort the connection if its response was not sent and received in time; streams have no such deadline."""
        self._taken_by = NEVER
        unfinished = not self.cycle.response_complete and not self.cycle.scope["state"].get(_STREAM)
        if unfinished or (self.cycle.response_complete and self.transport.get_write_buffer_size()):
            self.transport.abort()
