"""A running site: in a thread with a loop of its own, beside the loop of the test."""

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.web.site import ROBOTS, Site, Visit
from tests.web.wire import Connection, serve_connection


@dataclass(frozen=True)
class SiteHandle:
    """The address of the site, and its requests so far."""

    url: str
    site: Site

    @property
    def requests(self) -> list[Visit]:
        """Return every request in the order of arrival."""
        return self.site.requests

    @property
    def page_urls(self) -> list[str]:
        """Return the URL of every page: exactly the pages that a crawl from `url` must find."""
        return [f"{self.url.rstrip('/')}{path}" for path in self.site.paths]

    def hold(self, after: int) -> None:
        """Hold every request after that many: a crawl gets that far and no further."""
        self.site.held_after = after

    def let_go(self) -> None:
        """Answer the held requests, and all later ones."""
        self.site.held_after = None

    def visits(self) -> Counter[str]:
        """Return the number of requests for each path."""
        return Counter(visit.path for visit in list(self.requests))


@contextmanager
def running_site(
    pages: int = 500, delay: float = 0.0, robots: str | int = ROBOTS, tls: ssl.SSLContext | None = None
) -> Iterator[SiteHandle]:
    """Yield a site on a free port of loopback for the time of the context; `url` ends with the "/" of page 0.

    With `tls` it is an https one, behind the certificate of that context.
    """
    site = Site(pages, delay, robots)
    opened: Future[Door] = Future()
    thread = threading.Thread(target=_serve, args=(site, opened, tls), name="site", daemon=True)
    thread.start()
    door = opened.result(timeout=30)
    try:
        yield SiteHandle(door.url, site)
    finally:
        door.shut()
        thread.join(timeout=30)


class Door:
    """A server that accepts connections and, at the end, closes all of them. It must be made in its own loop."""

    def __init__(self, site: Site, tls: ssl.SSLContext | None = None) -> None:
        self.site = site
        self._tls = tls
        self.url = ""
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._guests: dict[asyncio.Task[None], Connection] = {}

    async def serve(self, port: int, opened: Callable[["Door"], None]) -> None:
        """Serve until `shut` is called; 0 picks a free port, and `opened` is called when connections are accepted."""
        server = await asyncio.start_server(self._welcome, "127.0.0.1", port, ssl=self._tls, backlog=4096)
        scheme = "https" if self._tls else "http"
        self.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        opened(self)
        await self._closing.wait()
        server.close()
        await self._throw_out()

    def shut(self) -> None:
        """End the server; any thread may call this."""
        self._loop.call_soon_threadsafe(self._closing.set)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        task = asyncio.create_task(self._attend(connection))
        self._guests[task] = connection
        task.add_done_callback(self._guests.pop)

    async def _attend(self, connection: Connection) -> None:
        try:
            await serve_connection(connection, self.site.respond)
        finally:
            connection.writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await connection.writer.wait_closed()

    async def _throw_out(self) -> None:
        guests = dict(self._guests)
        for task, connection in guests.items():
            connection.writer.transport.abort()
            task.cancel()
        await asyncio.gather(*guests, return_exceptions=True)


def _serve(site: Site, opened: "Future[Door]", tls: ssl.SSLContext | None) -> None:
    async def serve() -> None:
        await Door(site, tls).serve(0, opened.set_result)

    try:
        asyncio.run(serve())
    except OSError as error:
        opened.set_exception(error)
