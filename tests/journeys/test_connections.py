"""Servers that close kept connections silently: no page is lost, and none is fetched twice."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic

import pytest

from longline.wiring import CrawlRequest, Watcher, crawl
from tests.drivers.http.wire import Peer, serving
from tests.journeys.place import Place
from tests.plans import crawl_plan


class Site:
    """A start page that links to all others; `waits` is the time a connection is kept after that many answers."""

    def __init__(self, pages: int, waits: Callable[[int], float | None]) -> None:
        self.home = "".join(f'<a href="/{n}">{n}</a>' for n in range(1, pages))
        self.waits = waits
        self.arrivals: list[float] = []

    async def attend(self, peer: Peer) -> None:
        answers = 0
        while await self.next(peer.request, self.waits(answers)):
            if peer.path != "/robots.txt":
                self.arrivals.append(monotonic())
            answers += 1
            await peer.answer(self.home.encode() if peer.path == "/" else peer.path.encode())

    async def next(self, request: Callable[[], Awaitable[bool]], seconds: float | None) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await request()
        except TimeoutError:
            return False


def soon(answers: int) -> float | None:
    return random.uniform(0.003, 0.020) if answers else None


async def one_answer(peer: Peer, site: Site) -> None:
    """Answer the first request of a connection, and close it when the second arrives."""
    if await peer.request():
        await peer.answer(site.home.encode() if peer.path == "/" else peer.path.encode())
        await peer.request()


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return Place(tmp_path, {})


async def crawled(here: Place, url: str, **plan: int) -> dict[tuple[str, str, int], int]:
    """Return tasks by state, reason and attempts."""
    request = CrawlRequest(crawl_plan((url,), robots=False, max_depth=1, **plan))
    await crawl(here.settings, request, Watcher())
    rows = here.ask("SELECT state, reason, attempt, COUNT(*) FROM tasks GROUP BY state, reason, attempt")
    return {(state, reason, attempt): count for state, reason, attempt, count in rows}


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_connections_that_close_soon_after_an_answer(here: Place, concurrency: int):
    site = Site(201, soon)
    async with serving(site.attend) as server:
        found = await crawled(here, server.url(), delay_ms=0, concurrency=concurrency)
    assert found == {("completed", "ok", 1): 201}


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_no_page_is_lost_with_one_answer_on_each_connection(here: Place, concurrency: int):
    site = Site(121, soon)
    async with serving(lambda peer: one_answer(peer, site)) as server:
        found = await crawled(here, server.url(), delay_ms=0, concurrency=concurrency)
    assert found == {("completed", "ok", 1): 121}


async def test_no_page_is_lost_if_the_delay_equals_the_keep_alive_time(here: Place):
    site = Site(20, lambda answers: 0.2 if answers else None)
    async with serving(site.attend) as server:
        found = await crawled(here, server.url(), delay_ms=200, concurrency=1)
    assert found == {("completed", "ok", 1): 20}
    assert min(after - before for before, after in zip(site.arrivals, site.arrivals[1:], strict=False)) >= 0.2


async def test_a_site_that_looks_for_its_cookie(here: Place):
    async def script(peer: Peer) -> None:
        while await peer.request():
            known = b"cookie: seen=yes" in peer.head.lower()
            if known and peer.path == "/":
                await peer.answer(b'<a href="/1">1</a>')
            elif known and peer.path != "/check":
                await peer.answer(b"<title>One</title>")
            else:
                cookie = b"Set-Cookie: seen=yes; Path=/\r\n" if peer.path == "/check" else b""
                to = b"/" if peer.path == "/check" else b"/check"
                await peer.send(
                    b"HTTP/1.1 302 Found\r\nLocation: " + to + b"\r\n" + cookie + b"Content-Length: 0\r\n\r\n"
                )

    async with serving(script) as server:
        assert await crawled(here, server.url(), delay_ms=0) == {("completed", "ok", 1): 2}
