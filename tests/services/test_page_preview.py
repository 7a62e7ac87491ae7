"""Glances: how many hops, how long, and pages that cannot be parsed."""

import pytest

from longline.model.errors import BadInput
from longline.ports.http import Response
from longline.services.page_preview import MAX_HOPS, NoPreview, PagePreviews
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, moved, response


def chain(http: FakeHttp, hops: int) -> str:
    for n in range(hops):
        http.on(f"https://a.example/{n}", moved(f"https://a.example/{n}", f"/{n + 1}"))
    return "https://a.example/0"


async def test_ten_redirects_are_followed_and_not_one_more():
    http = FakeHttp(FakeClock())
    glances = PagePreviews(http, FakeClock(), "bot/1")
    assert (await glances.take(chain(http, MAX_HOPS), 15)).final_url == f"https://a.example/{MAX_HOPS}"
    with pytest.raises(NoPreview, match="too_many_redirects"):
        await glances.take(chain(http, MAX_HOPS + 1), 15)
    assert ("user-agent", "bot/1") in http.requests[0].headers


async def test_a_site_that_looks_for_its_cookie():
    http = FakeHttp(FakeClock())

    async def home() -> Response:
        known = "cookie" in dict(http.requests[-1].headers)
        return response("https://a.example/") if known else moved("https://a.example/", "/check")

    http.on("https://a.example/", home)
    check = response("https://a.example/check", 302, b"", (("Location", "/"), ("Set-Cookie", "seen=1; Path=/")))
    http.on("https://a.example/check", check)
    glances = PagePreviews(http, FakeClock(), "bot/1")
    for _ in range(2):
        assert (await glances.take("https://a.example/", 15)).status == 200
    assert len(http.urls) == 6, "one visitor's cookie is not another's"


async def test_all_hops_together_have_one_deadline():
    clock = FakeClock()
    http = FakeHttp(clock)

    async def slow() -> object:
        clock.advance(20)
        return moved("https://a.example/", "/next")

    http.on("https://a.example/", slow)  # type: ignore[arg-type]  # an answer is an answer
    with pytest.raises(NoPreview, match="total_timeout"):
        await PagePreviews(http, clock, "bot/1").take("https://a.example/", 15)


async def test_a_page_that_cannot_be_parsed_is_still_shown():
    http = FakeHttp(FakeClock())
    deep = b"<div>" * 200_000
    http.on("https://a.example/", response("https://a.example/", body=deep))
    glance = await PagePreviews(http, FakeClock(), "bot/1").take("https://a.example/", 15)
    assert (glance.html.encode(), glance.title) == (deep, "")


async def test_what_is_no_url_is_refused():
    with pytest.raises(BadInput):
        await PagePreviews(FakeHttp(FakeClock()), FakeClock(), "bot/1").take("file:///etc/passwd", 15)
