import asyncio
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from longline.engine.fetch.request_sender import LeaseLost
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.model.fetch.content_encoding import ACCEPT_ENCODING
from longline.model.frontier import reasons
from longline.model.frontier.task import KnownPage, RequestMade
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.normalization import dedupe_key
from longline.ports.http import FetchFailed, Response
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import AGENT, HOST, RUN, Asker, FakeHttp, claimed, lease, moved, response
from tests.plans import crawl_plan

ROBOTS = f"https://{HOST}/robots.txt"
HOME = f"https://{HOST}/"
PLAN = CrawlPlan((HOME,))
FREE = crawl_plan((HOME,), robots=False)


@pytest.fixture
def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
def fetcher(http: FakeHttp, clock: FakeClock) -> Asker:
    return Asker(http, clock, max_bytes=1000)


def held(clock: FakeClock, **facts: Any) -> LeasedHost:
    until = clock.now() + 30_000
    return LeasedHost(lease(claimed(), **{"until": until} | facts), 30.0, clock.monotonic(), clock.monotonic())


def rules(text: str) -> Any:
    return response(ROBOTS, 200, text.encode(), (("Content-Type", "text/plain"),))


async def paced(clock: FakeClock, work: Any, seconds: float, step: float = 0.5) -> Any:
    """Return the result of work that waits for its turns, while the clock moves on."""
    running = asyncio.create_task(work)
    for _ in range(int(seconds / step)):
        for _ in range(5):
            await asyncio.sleep(0)
        if running.done():
            break
        clock.advance(step)
    assert running.done(), "the work waits for too long"
    return await running


# -- pages ------------------------------------------------------------------------------------------------------


async def test_a_page_has_its_bytes_and_its_time(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    clock.advance(5)
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.status, got.body, got.at) == ("ok", 200, b"<title>T</title>", START + 5000)
    assert http.urls == [ROBOTS, HOME]
    assert {("user-agent", AGENT), ("accept-encoding", ACCEPT_ENCODING)} <= set(http.requests[1].headers)
    assert http.requests[1].max_bytes == 1000


@pytest.mark.parametrize("word", sorted({*reasons.RETRYABLE, *reasons.FINAL} - {"http_429", "http_5xx", "http_4xx"}))
async def test_the_reason_of_a_failure_of_the_client_is_kept(fetcher: Asker, http: FakeHttp, clock: FakeClock, word):
    http.on(HOME, FetchFailed(word, "why"))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.error, got.response) == (word, "why", None)


@pytest.mark.parametrize(
    ("status", "word"), [(400, "http_4xx"), (404, "http_4xx"), (410, "http_4xx"), (429, "http_429"), (503, "http_5xx")]
)
async def test_a_status_without_a_page_has_a_reason(fetcher: Asker, http: FakeHttp, clock: FakeClock, status, word):
    http.on(HOME, response(HOME, status))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.status, got.error, got.response) == (word, status, f"HTTP {status}", None)


@pytest.mark.parametrize(
    ("headers", "body", "word"),
    [
        ((("Content-Encoding", "gzip"),), b"no gzip", "bad_encoding"),
        ((("Content-Encoding", "br"),), b"...", "bad_encoding"),
        ((), b"x" * 1001, "too_large"),
    ],
)
async def test_a_body_that_cannot_be_decoded_fails(fetcher: Asker, http: FakeHttp, clock, headers, body, word):
    http.on(HOME, response(HOME, 200, body, headers))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.response) == (word, None)


async def test_no_request_is_sent_under_a_lost_lease(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    host = held(clock)
    host.lost = True
    with pytest.raises(LeaseLost):
        await fetcher.fetch(host, HOME, PLAN)
    expired = held(clock)
    clock.advance(30)
    with pytest.raises(LeaseLost):
        await fetcher.fetch(expired, HOME, FREE)
    assert http.sent == []


# -- redirects --------------------------------------------------------------------------------------------------


async def test_redirects_of_a_host_keep_its_delay(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, f"{HOME}3#part"))
    host = held(clock, delay_ms=2000)
    got = await paced(clock, fetcher.fetch(host, f"{HOME}1", FREE), 10)
    assert http.sent == [(0, f"{HOME}1"), (2, f"{HOME}2"), (4, f"{HOME}3")]
    assert (got.reason, got.elsewhere, got.moved_to) == ("ok", None, f"{HOME}3")


async def test_a_redirect_to_a_url_that_robots_forbids_is_not_followed(
    fetcher: Asker, http: FakeHttp, clock: FakeClock
):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /secret\n"))
    http.on(f"{HOME}1", moved(HOME, "/secret/door"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.status) == ("robots", 302)
    assert http.urls == [ROBOTS, f"{HOME}1"]


async def test_a_redirect_to_a_missing_page_is_a_failure_of_the_task(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", response(HOME, 404))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.elsewhere) == ("http_4xx", None)


@pytest.mark.parametrize("elsewhere", ["https://b.example/", "http://a.example:8080/", "//www.a.example/x"])
async def test_a_redirect_to_another_host_is_returned(fetcher: Asker, http: FakeHttp, clock: FakeClock, elsewhere):
    http.on(HOME, moved(HOME, elsewhere, 301))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.status) == ("redirected", 301)
    assert got.elsewhere == elsewhere.replace("//www", "https://www")
    assert http.urls == [HOME]


async def test_a_link_that_redirects_to_a_page_of_another_task_is_skipped(
    fetcher: Asker, http: FakeHttp, clock: FakeClock
):
    http.on(f"{HOME}1", moved(HOME, "/2", 301))
    fetcher.tasks.known.add((RUN, HOST, dedupe_key(f"{HOME}2")))
    got = await fetcher.fetch(held(clock), f"{HOME}1", FREE, depth=1)
    assert (got.reason, got.status, got.elsewhere, got.response) == ("redirected", 200, None, None)
    seed = await fetcher.fetch(held(clock), f"{HOME}1", FREE, depth=0)
    assert (seed.reason, seed.moved_to) == ("ok", f"{HOME}2"), "a seed gets the page"


async def test_a_redirect_to_another_spelling_of_the_same_url_is_followed(
    fetcher: Asker, http: FakeHttp, clock: FakeClock
):
    http.on(f"{HOME}%7Eu", moved(HOME, "/~u", 301))
    fetcher.tasks.known.add((RUN, HOST, dedupe_key(f"{HOME}%7Eu")))
    got = await fetcher.fetch(held(clock), f"{HOME}%7Eu", FREE, depth=1)
    assert (got.reason, got.moved_to) == ("ok", f"{HOME}~u"), "no other task has that page"
    assert http.urls == [f"{HOME}%7Eu", f"{HOME}~u"]


async def test_links_that_redirect_to_each_other_are_a_loop_for_both(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    one, two = f"{HOME}1", f"{HOME}2"
    http.on(one, moved(one, "/2", 301))
    http.on(two, moved(two, "/1", 301))
    fetcher.tasks.known.update((RUN, HOST, dedupe_key(url)) for url in (one, two))
    ended = [await fetcher.fetch(held(clock), url, FREE, depth=1) for url in (one, two)]
    assert [got.reason for got in ended] == ["redirect_loop"] * 2


async def test_a_redirect_between_schemes_of_a_host_is_followed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"http://{HOST}/", moved(HOME, HOME, 308))
    got = await fetcher.fetch(held(clock), f"http://{HOST}/", FREE)
    assert (got.reason, got.moved_to) == ("ok", HOME)


async def test_a_redirect_loop_is_detected(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, "/1"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", FREE)
    assert (got.reason, got.error) == ("redirect_loop", f"redirected back to {HOME}1")
    assert http.urls == [f"{HOME}1", f"{HOME}2"]


def wall_of_cookies(http: FakeHttp, *paths: str, counts: bool = False) -> None:
    """Redirect requests without a cookie around these paths; the last sets one, or with `counts` another each time."""
    numbers = iter(range(100))
    for path, after in pairwise((*paths, paths[0])):

        async def answer(url: str = f"{HOME}{path}", after: str = after, last: bool = path == paths[-1]) -> Response:
            if not counts and "cookie" in dict(http.requests[-1].headers):
                return response(url)
            cookie = (("Set-Cookie", f"seen={next(numbers) if counts else 'yes'}; Path=/"),) if last else ()
            return response(url, 302, b"", (("Location", f"/{after}"), *cookie))

        http.on(f"{HOME}{path}", answer)


@pytest.mark.parametrize("paths", [("a", "check"), ("a", "set", "check"), ("a",)])
async def test_a_return_with_a_new_cookie_is_no_loop(fetcher: Asker, http: FakeHttp, clock: FakeClock, paths):
    wall_of_cookies(http, *paths)
    got = await fetcher.fetch(held(clock), f"{HOME}a", FREE)
    assert (got.reason, got.moved_to) == ("ok", None)
    assert http.urls == [f"{HOME}{path}" for path in (*paths, "a")]


async def test_a_return_to_the_url_of_the_task_is_its_own_page(fetcher: Asker, http, clock: FakeClock):
    wall_of_cookies(http, "a", "check")
    fetcher.tasks.known.add((RUN, HOST, dedupe_key(f"{HOME}a")))
    got = await fetcher.fetch(held(clock), f"{HOME}a", FREE, depth=1)
    assert (got.reason, got.moved_to) == ("ok", None)


async def test_a_cookie_that_changes_at_every_return_ends_at_the_bound_of_redirects(
    fetcher: Asker, http: FakeHttp, clock: FakeClock
):
    wall_of_cookies(http, "a", "check", counts=True)
    got = await fetcher.fetch(held(clock), f"{HOME}a", FREE)
    assert got.reason == "too_many_redirects"
    assert len(http.sent) == FREE.fetch.max_redirects + 1


@pytest.mark.parametrize(
    ("plan", "cookie"),
    [
        (crawl_plan((), robots=False, cookies=False), "seen=yes; Path=/"),
        (crawl_plan((), robots=False, headers=(("Cookie", "own=1"),)), "seen=yes; Path=/"),
        (FREE, "seen=yes; Path=/elsewhere"),
        (FREE, "seen=yes; Path=/; Max-Age=0"),
        (crawl_plan((), robots=False, user_agents=("one/1", "two/2", "three/3")), ""),
    ],
)
async def test_a_return_is_a_loop_if_the_cookie_is_not_sent(fetcher, http: FakeHttp, clock: FakeClock, plan, cookie):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", response(HOME, 302, b"", (("Location", "/1"), ("Set-Cookie", cookie))))
    got = await fetcher.fetch(held(clock), f"{HOME}1", plan)
    assert (got.reason, http.urls) == ("redirect_loop", [f"{HOME}1", f"{HOME}2"])


async def test_the_number_of_redirects_is_bounded(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(30):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    got = await fetcher.fetch(held(clock), f"{HOME}0", FREE)
    assert got.reason == "too_many_redirects"
    assert len(http.sent) == FREE.fetch.max_redirects + 1 == 21


@pytest.mark.parametrize("location", ["mailto:a@b.example", "javascript:void(0)", "https://", "ftp://b.example/"])
async def test_a_redirect_to_an_invalid_url_fails(fetcher: Asker, http: FakeHttp, clock: FakeClock, location):
    http.on(HOME, moved(HOME, location))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "bad_url"


async def test_the_bytes_of_a_location_are_percent_encoded(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, moved(HOME, "/s?q=\xd6\xd0"))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.moved_to) == ("ok", f"{HOME}s?q=%D6%D0")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
async def test_a_redirect_without_a_location_fails(fetcher: Asker, http: FakeHttp, clock: FakeClock, status: int):
    http.on(HOME, response(HOME, status))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.response) == ("bad_url", None)
    assert (got.status, got.error) == (status, f"HTTP {status} without a Location")


@pytest.mark.parametrize("status", [204, 205])
async def test_a_response_without_content_is_no_page(fetcher: Asker, http: FakeHttp, clock: FakeClock, status: int):
    http.on(HOME, response(HOME, status, b""))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.status, got.error, got.response) == ("no_content", status, f"HTTP {status}", None)


# -- requests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        (msgspec.structs.replace(response(HOME, body=b"abc"), resent_ms=3), RequestMade(200, 5, 3)),
        (FetchFailed("reset", "gone", resent_ms=3), RequestMade()),
    ],
)
async def test_a_repeated_request_is_counted(fetcher: Asker, http: FakeHttp, clock: FakeClock, answer, last):
    http.on(HOME, answer)
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert got.asked == (RequestMade(ms=3, reason="resent"), last)


# -- known pages ------------------------------------------------------------------------------------------------

KNOWN = KnownPage(7, "sha256:00", 5, '"v1"', "Sat, 14 Nov 2026 10:00:00 GMT")


async def test_a_known_page_is_requested_with_its_validators(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, response(HOME, 304, b""))
    got = await fetcher.fetch(held(clock), HOME, FREE, known=KNOWN)
    asked = dict(http.requests[-1].headers)
    assert (asked["if-none-match"], asked["if-modified-since"]) == (KNOWN.etag, KNOWN.last_modified)
    assert (got.reason, got.status, got.same_as) == ("ok", 304, KNOWN)


@pytest.mark.parametrize("known", [None, KnownPage(7, "sha256:00", 5)])
async def test_a_page_without_validators_is_requested_unconditionally(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, known
):
    http.on(HOME, response(HOME, 304, b""))
    got = await fetcher.fetch(held(clock), HOME, FREE, known=known)
    assert "if-none-match" not in dict(http.requests[-1].headers)
    assert (got.reason, got.same_as) == ("protocol", None), "the request was not conditional"


async def test_a_plan_may_request_every_page_unconditionally(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    await fetcher.fetch(held(clock), HOME, crawl_plan((), robots=False, conditional=False), known=KNOWN)
    assert not {"if-none-match", "if-modified-since"} & dict(http.requests[-1].headers).keys()


async def test_validators_of_a_url_are_not_sent_to_another(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, moved(HOME, "/2"))
    await fetcher.fetch(held(clock), HOME, FREE, known=KNOWN)
    assert ["if-none-match" in dict(r.headers) for r in http.requests] == [True, False]


async def test_hops_of_earlier_tasks_count(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(9):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    http.on(f"{HOME}2", response(HOME))
    most = FREE.fetch.max_redirects
    assert (await fetcher.fetch(held(clock), f"{HOME}0", FREE, hops=most - 2)).reason == "ok"
    assert (await fetcher.fetch(held(clock), f"{HOME}0", FREE, hops=most - 1)).reason == "too_many_redirects"


async def test_redirects_of_as_many_hops_as_allowed_succeed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(FREE.fetch.max_redirects):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    got = await fetcher.fetch(held(clock), f"{HOME}0", FREE)
    assert (got.reason, got.moved_to) == ("ok", f"{HOME}{FREE.fetch.max_redirects}")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("text/html; charset=utf-8", "ok"), ("TEXT/HTML", "ok"), ("", "ok"), ("application/pdf", "content_type")],
)
async def test_a_plan_may_accept_some_content_types_only(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, kind, reason
):
    http.on(HOME, response(HOME, headers=(("Content-Type", kind),)))
    got = await fetcher.fetch(held(clock), HOME, crawl_plan((), robots=False, content_types=("text/html",)))
    assert got.reason == reason


async def test_the_sitemaps_of_a_site_are_returned_once_for_each_run(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("Sitemap: /map.xml\nSitemap: https://b.example/more.xml\n"))
    host, plan = held(clock), crawl_plan((HOME,), sitemaps=True)
    heard = [
        (await fetcher.fetch(host, f"{HOME}{n}", plan, run_id=run)).sitemaps for run, n in ((1, 1), (1, 2), (2, 1))
    ]
    named = ("https://a.example/map.xml", "https://b.example/more.xml")
    assert heard == [named, (), named]
    assert (await fetcher.fetch(host, HOME, PLAN)).sitemaps == (), "a plan without sitemaps gets none"


# -- the Referer header, and rendered pages ---------------------------------------------------------------------


async def test_every_hop_has_a_referer_and_robots_has_none(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    start, page = f"http://{HOST}/", f"http://{HOST}/links"
    http.on(start, moved(start, f"{start}2"))
    http.on(f"{start}2", moved(f"{start}2", HOME))
    await fetcher.fetch(held(clock), start, PLAN, found_on=page)
    told = {r.url: dict(r.headers).get("referer") for r in http.requests}
    assert told == {f"{start}robots.txt": None, start: page, f"{start}2": page, ROBOTS: None, HOME: start}


RENDERED = crawl_plan((HOME,), render=True)


@pytest.fixture
def browser(http: FakeHttp, clock: FakeClock) -> Asker:
    return Asker(http, clock, max_bytes=1000, renders=True)


async def test_a_dynamic_page_is_rendered_and_a_file_is_not(browser: Asker, http: FakeHttp, clock: FakeClock):
    got = await browser.fetch(held(clock, concurrency=8), HOME, RENDERED)
    assert (got.reason, got.moved_to, got.body) == ("ok", None, b"<title>T</title>")
    await browser.fetch(held(clock, concurrency=8), f"{HOME}a.pdf", RENDERED)
    await browser.fetch(held(clock, concurrency=8), HOME, PLAN)
    assert [(r.url, r.render) for r in http.requests] == [
        (ROBOTS, False),
        (HOME, True),
        (f"{HOME}a.pdf", False),
        (HOME, False),
    ]


async def test_without_a_rendering_service_a_dynamic_page_is_fetched(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    assert (await fetcher.fetch(held(clock), HOME, RENDERED)).reason == "ok"
    assert not any(r.render for r in http.requests)


@pytest.mark.parametrize(
    ("landed", "reason", "moved_to", "elsewhere"),
    [
        (f"{HOME}2", "ok", f"{HOME}2", None),
        (f"{HOME}private", "robots", None, None),
        ("https://other.example/", "redirected", None, "https://other.example/"),
    ],
)
async def test_the_final_url_of_a_browser_is_checked(
    browser: Asker, http: FakeHttp, clock: FakeClock, landed: str, reason: str, moved_to: str, elsewhere: str
):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /private"))
    http.on(HOME, response(landed))
    got = await browser.fetch(held(clock), HOME, RENDERED)
    assert (got.reason, got.moved_to, got.elsewhere) == (reason, moved_to, elsewhere)
    assert http.urls == [ROBOTS, HOME]
