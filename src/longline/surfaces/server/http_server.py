"""The HTTP server, run inside the process's event loop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from litestar.types import ASGIApp

from longline.surfaces.server.connection import USUAL, Deadlines, TimedConfig
from longline.surfaces.server.listening_socket import BACKLOG, address, bind

_GRACE_SECONDS = 5


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
            backlog=BACKLOG,
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
