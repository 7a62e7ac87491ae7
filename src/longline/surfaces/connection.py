"""A client's connection, and how long it may take over a request and its answer."""

import asyncio
from typing import Any, NamedTuple

import uvicorn
from litestar.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

NEVER = float("inf")

_STREAM = "longline.stream"
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\n"
    b'content-length: 29\r\nconnection: close\r\n\r\n{"error":"Request timed out"}'
)


class Deadlines(NamedTuple):
    """Seconds for a request to arrive, for its answer to be taken, and for the next request to begin."""

    read: float = 30.0
    write: float = 60.0
    idle: float = 120.0


def lasts(scope: Scope) -> None:
    """Mark what is asked for as a stream: it may take as long as its client likes."""
    scope["state"][_STREAM] = True


USUAL = Deadlines()


class TimedConfig(uvicorn.Config):
    """The server's own settings, with our deadlines."""

    def __init__(self, app: Any, deadlines: Deadlines, **more: Any) -> None:
        super().__init__(app, http=TimedConnection, timeout_keep_alive=deadlines.idle, **more)  # type: ignore[arg-type]  # fractions will do
        self.deadlines = deadlines


class TimedConnection(HttpToolsProtocol):
    """A connection that is closed on a client who is too slow.

    One timer for both deadlines looks again when it goes off, so that a request costs no more than two looks at the
    clock. A client who has not sent its request in time is told so where that is still possible; one who does not take
    its answer in time is cut off.
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
        self._begun = self._headed = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._read_by = self.loop.time() + self._deadlines.read
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begun, self._headed = True, False
        self._read_by = self.loop.time() + self._deadlines.read
        self._watch()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._headed = True
        self._taken_by = self.loop.time() + self._deadlines.write
        self._watch()

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
        """The request did not come in time; it is answered unless another answer would be torn by that."""
        cycle, self._read_by = self.cycle, NEVER
        answered = cycle is None or cycle.response_complete
        if answered and (self._headed or not self._begun):
            self.transport.close()
        elif answered or (self._headed and not cycle.response_started and not self.pipeline):
            self.transport.write(_TOO_SLOW)
            self.transport.close()
        else:
            self.transport.abort()

    def _not_taken(self) -> None:
        """The answer is not where it should be, be it by our fault or the client's; streams have no such time."""
        self._taken_by = NEVER
        unfinished = not self.cycle.response_complete and not self.cycle.scope["state"].get(_STREAM)
        if unfinished or (self.cycle.response_complete and self.transport.get_write_buffer_size()):
            self.transport.abort()
