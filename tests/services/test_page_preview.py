"""Previews: number of hops, deadline, and pages that are large or cannot be parsed."""

import asyncio
import time
from contextlib import suppress

import pytest

from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.process_pool import ProcessPool
from longline.model.errors import BadInput
from longline.plugins.registry import ParserSources
from longline.ports.http import Response
from longline.services.page_preview import MAX_HOPS, NoPreview, PagePreviews
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, moved, response

PARSERS = ParserSources(("longline.parsers.previews",))
LARGE = b"<title>t</title>" + b"".join(b"<div><p>text %d <a href=/%d>l</a></p></div>" % (n, n) for n in range(60_000))


def previews(http: FakeHttp, clock: FakeClock | None = None) -> PagePreviews:
    return PagePreviews(http, clock or FakeClock(), "bot/1", PageParser(PARSERS.open()))


def chain(http: FakeHttp, hops: int) -> str:
    for n in range(hops):
        http.on(f"https://a.example/{n}", moved(f"https://a.example/{n}", f"/{n + 1}"))
    return "https://a.example/0"


async def test_ten_redirects_are_followed_and_not_one_more():
    http = FakeHttp(FakeClock())
    looking = previews(http)
    assert (await looking.take(chain(http, MAX_HOPS), 15)).final_url == f"https://a.example/{MAX_HOPS}"
    with pytest.raises(NoPreview, match="too_many_redirects"):
        await looking.take(chain(http, MAX_HOPS + 1), 15)
    assert ("user-agent", "bot/1") in http.requests[0].headers


async def test_a_preview_sends_the_cookie_of_a_redirect():
    http = FakeHttp(FakeClock())

    async def home() -> Response:
        known = "cookie" in dict(http.requests[-1].headers)
        return response("https://a.example/") if known else moved("https://a.example/", "/check")

    http.on("https://a.example/", home)
    check = response("https://a.example/check", 302, b"", (("Location", "/"), ("Set-Cookie", "seen=1; Path=/")))
    http.on("https://a.example/check", check)
    looking = previews(http)
    for _ in range(2):
        assert (await looking.take("https://a.example/", 15)).status == 200
    assert len(http.urls) == 6, "one visitor's cookie is not another's"


async def test_all_hops_together_have_one_deadline():
    clock = FakeClock()
    http = FakeHttp(clock)

    async def slow() -> object:
        clock.advance(20)
        return moved("https://a.example/", "/next")

    http.on("https://a.example/", slow)  # type: ignore[arg-type]  # an answer is an answer
    with pytest.raises(NoPreview, match="total_timeout"):
        await previews(http, clock).take("https://a.example/", 15)


async def test_a_page_that_cannot_be_parsed_has_a_preview():
    http = FakeHttp(FakeClock())
    deep = b"<div>" * 200_000
    http.on("https://a.example/", response("https://a.example/", body=deep))
    preview = await previews(http).take("https://a.example/", 15)
    assert (preview.html.encode(), preview.title) == (deep, "")


async def test_an_address_that_is_no_web_url_is_refused():
    with pytest.raises(BadInput):
        await previews(FakeHttp(FakeClock())).take("file:///etc/passwd", 15)


async def _longest_block() -> float:
    """Measure the event loop until cancelled; return the longest time for which it ran nothing else."""
    longest = 0.0
    with suppress(asyncio.CancelledError):
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - begun)
    return longest


async def test_a_large_page_is_parsed_beside_the_loop():
    http = FakeHttp(FakeClock())
    http.on("https://a.example/", response("https://a.example/", body=LARGE))
    pool = ProcessPool(PARSERS, 1, 60)
    looking = PagePreviews(http, FakeClock(), "bot/1", PageParser(PARSERS.open(), pool))
    watch = asyncio.create_task(_longest_block())
    begun = time.perf_counter()
    try:
        preview = await looking.take("https://a.example/", 15)
        took = time.perf_counter() - begun
    finally:
        watch.cancel()
        pool.close()
    assert (preview.title, preview.text.count("text ")) == ("t", 60_000)
    assert await watch < took / 3
