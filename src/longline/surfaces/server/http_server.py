"""The HTTP server, run inside the process's event loop."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import uvicorn
from litestar.types import ASGIApp

from longline.model.errors import BadInput, LonglineError
from longline.surfaces.server.connection import USUAL, Deadlines, TimedConfig

_GRACE_SECONDS = 5
_BACKLOG = 2048


class _Embedded(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process, which also stops workers, in its own order."""
        yield


class HttpServer:
    """One listening address. The socket is bound first, so that a port in use is reported at once."""

    def __init__(self, deadlines: Deadlines = USUAL) -> None:
        self._deadlines = deadlines
        self._server: _Embedded | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self, app: ASGIApp, host: str, port: int) -> str:
        """Listen, and return the URL for clients once the first request can be answered."""
        bound = bind(host, port)
        config = TimedConfig(
            app,
            self._deadlines,
            loop="none",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        self._server = _Embedded(config)
        self._task = asyncio.create_task(self._server.serve([bound]), name="http server")
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait((ready, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            self._task.result()
        return address(bound)

    async def stop(self) -> None:
        """Accept no more requests, let running ones finish, then close."""
        if self._server is None or self._task is None:
            return
        self._server.should_exit = True
        await self._task
        self._server = self._task = None


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise a `LonglineError` with a one-line reason if that fails."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise BadInput(f'host "{host}" is not an address of this machine: {error.strerror}') from error
    # Not every machine that resolves localhost to ::1 has IPv6.
    family, kind, protocol, _, where = min(found, key=lambda one: one[0] != socket.AF_INET)
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
        # With SO_REUSEADDR a second server may bind the same address; only listen() fails.
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise _refused(error, host, port) from error
    bound.setblocking(False)
    return bound


def _refused(error: OSError, host: str, port: int) -> LonglineError:
    if error.errno == errno.EADDRINUSE:
        return LonglineError(f"port {port} on {host} is in use; stop what runs there or choose another with --port")
    if error.errno == errno.EACCES:
        return LonglineError(f"port {port} on {host} is not ours to take; choose one above 1023 with --port")
    return LonglineError(f"cannot listen on port {port} of {host}: {error.strerror}")


def address(bound: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
