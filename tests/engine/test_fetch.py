import asyncio
from email.utils import formatdate
from typing import Any

import pytest

from longline.engine import fetch
from longline.engine.frontier import HeldHost
from longline.engine.sender import LeaseLost
from longline.model import fate
from longline.model.encoding import ACCEPT_ENCODING
from longline.model.plan import CrawlPlan
from longline.model.task import Known
from longline.model.url import dedupe_key
from longline.ports.http import FetchFailed
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import AGENT, HOST, RUN, Asker, FakeHttp, claimed, lease, moved, response

ROBOTS = f"https://{HOST}/robots.txt"
HOME = f"https://{HOST}/"
PLAN = CrawlPlan((HOME,))
FREE = CrawlPlan((HOME,), robots=False)


@pytest.fixture
def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
def fetcher(http: FakeHttp, clock: FakeClock) -> Asker:
    return Asker(http, clock, max_bytes=1000)


def held(clock: FakeClock, **facts: Any) -> HeldHost:
    until = clock.now() + 30_000
    return HeldHost(lease(claimed(), **{"until": until} | facts), 30.0, clock.monotonic(), clock.monotonic())


def rules(text: str) -> Any:
    return response(ROBOTS, 200, text.encode(), (("Content-Type", "text/plain"),))


async def paced(clock: FakeClock, work: Any, seconds: float, step: float = 0.5) -> Any:
    """The result of something that waits for turns, while the clock moves on."""
    running = asyncio.create_task(work)
    for _ in range(int(seconds / step)):
        for _ in range(5):
            await asyncio.sleep(0)
        if running.done():
            break
        clock.advance(step)
    assert running.done(), "it waits for more than it should"
    return await running


# -- pages ------------------------------------------------------------------------------------------------------


async def test_a_page_comes_with_its_bytes_and_its_time(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    clock.advance(5)
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.status, got.body, got.at) == ("ok", 200, b"<title>T</title>", START + 5000)
    assert http.urls == [ROBOTS, HOME]
    assert {("user-agent", AGENT), ("accept-encoding", ACCEPT_ENCODING)} <= set(http.requests[1].headers)
    assert http.requests[1].max_bytes == 1000


@pytest.mark.parametrize("word", sorted({*fate.RETRYABLE, *fate.FINAL} - {"http_429", "http_5xx", "http_4xx"}))
async def test_every_failure_of_the_client_keeps_its_word(fetcher: Asker, http: FakeHttp, clock: FakeClock, word):
    http.on(HOME, FetchFailed(word, "why"))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.error, got.response) == (word, "why", None)


@pytest.mark.parametrize(
    ("status", "word"), [(400, "http_4xx"), (404, "http_4xx"), (410, "http_4xx"), (429, "http_429"), (503, "http_5xx")]
)
async def test_a_status_that_is_no_page_has_a_word(fetcher: Asker, http: FakeHttp, clock: FakeClock, status, word):
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
async def test_a_body_that_does_not_decode_fails(fetcher: Asker, http: FakeHttp, clock, headers, body, word):
    http.on(HOME, response(HOME, 200, body, headers))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.response) == (word, None)


async def test_nothing_is_sent_under_a_lease_that_is_gone(fetcher: Asker, http: FakeHttp, clock: FakeClock):
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


async def test_redirects_of_a_host_go_at_its_pace(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, f"{HOME}3#part"))
    host = held(clock, delay_ms=2000)
    got = await paced(clock, fetcher.fetch(host, f"{HOME}1", FREE), 10)
    assert http.sent == [(0, f"{HOME}1"), (2, f"{HOME}2"), (4, f"{HOME}3")]
    assert (got.reason, got.elsewhere, got.moved_to) == ("ok", None, f"{HOME}3")


async def test_a_redirect_to_what_robots_forbids_is_not_followed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /secret\n"))
    http.on(f"{HOME}1", moved(HOME, "/secret/door"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.status) == ("robots", 302)
    assert http.urls == [ROBOTS, f"{HOME}1"]


async def test_a_redirect_to_a_missing_page_is_a_failure_of_this_one(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", response(HOME, 404))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.elsewhere) == ("http_4xx", None)


@pytest.mark.parametrize("elsewhere", ["https://b.example/", "http://a.example:8080/", "//www.a.example/x"])
async def test_a_redirect_to_another_host_is_handed_over(fetcher: Asker, http: FakeHttp, clock: FakeClock, elsewhere):
    http.on(HOME, moved(HOME, elsewhere, 301))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.status) == ("redirected", 301)
    assert got.elsewhere == elsewhere.replace("//www", "https://www")
    assert http.urls == [HOME]


async def test_a_link_that_leads_to_another_of_the_runs_pages(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2", 301))
    fetcher.tasks.known.add((RUN, HOST, dedupe_key(f"{HOME}2")))
    got = await fetcher.fetch(held(clock), f"{HOME}1", FREE, depth=1)
    assert (got.reason, got.status, got.elsewhere, got.response) == ("redirected", 200, None, None)
    seed = await fetcher.fetch(held(clock), f"{HOME}1", FREE, depth=0)
    assert (seed.reason, seed.moved_to) == ("ok", f"{HOME}2"), "who asked for it by name is given the page"


async def test_links_that_lead_to_each_other_are_a_loop_for_both(fetcher: Asker, http: FakeHttp, clock: FakeClock):
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


async def test_a_loop_is_seen(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, "/1"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", FREE)
    assert (got.reason, got.error) == ("redirect_loop", f"redirected back to {HOME}1")
    assert http.urls == [f"{HOME}1", f"{HOME}2"]


async def test_redirects_come_to_an_end(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(20):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    got = await fetcher.fetch(held(clock), f"{HOME}0", FREE)
    assert got.reason == "too_many_redirects"
    assert len(http.sent) == FREE.max_redirects + 1


@pytest.mark.parametrize("location", ["mailto:a@b.example", "javascript:void(0)", "https://", "ftp://b.example/"])
async def test_a_redirect_to_no_url_fails(fetcher: Asker, http: FakeHttp, clock: FakeClock, location):
    http.on(HOME, moved(HOME, location))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "bad_url"


async def test_a_redirect_without_a_place_is_the_answer(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, response(HOME, 302))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "ok"


# -- Retry-After ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        (formatdate(START / 1000 + 90, usegmt=True), 90.0),
        (formatdate(START / 1000 - 90, usegmt=True), 0.0),
        ("99999999999999999999999", fetch.MAX_RETRY_AFTER),
        ("1" * 400, fetch.MAX_RETRY_AFTER),
        ("Fri, 31 Dec 9999 23:59:59 GMT", fetch.MAX_RETRY_AFTER),
        ("\u00b2", 2.0),  # a digit, and no number: the same as nothing
        ("-5", 2.0),
        ("soon", 2.0),
        ("", 2.0),
    ],
)
async def test_how_long_a_host_wants_to_be_left_alone(fetcher: Asker, http: FakeHttp, clock, value, seconds):
    http.on(HOME, response(HOME, 429, b"", (("Retry-After", value),)))
    host = held(clock)
    got = await fetcher.fetch(host, HOME, FREE)
    assert (got.reason, got.retry_after) == ("http_429", seconds)
    assert host.next_start == seconds, "the host is left alone, not this page only"


@pytest.mark.parametrize("wrong", [-86_400, -3600, 0, 3600, 86_400])
@pytest.mark.parametrize("zone", ["GMT", "-0000"])
async def test_a_date_to_come_again_is_by_the_clock_of_its_server(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, wrong: int, zone: str
):
    dates = {
        name: formatdate(START / 1000 + wrong + seconds, usegmt=True).replace("GMT", zone)
        for name, seconds in (("Date", 0), ("Retry-After", 40))
    }
    http.on(HOME, response(HOME, 503, b"", tuple(dates.items())))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).retry_after == 40


async def test_without_a_word_patience_doubles_until_the_host_answers(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    host = held(clock)
    waits = []
    for status in (429, 503, 429, 200, 503):
        http.on(HOME, response(HOME, status, b""))
        waits.append((await paced(clock, fetcher.fetch(host, HOME, FREE), 20)).retry_after)
    assert waits == [2.0, 4.0, 8.0, None, 2.0]
    http.on(HOME, response(HOME, 500, b""))
    assert (await paced(clock, fetcher.fetch(host, HOME, FREE), 20)).retry_after is None


async def test_hosts_that_were_told_so_together_do_not_come_back_together(http: FakeHttp, clock: FakeClock):
    http.on(HOME, response(HOME, 429, b""))
    chances = iter((0.0, 1.0))
    fetcher = Asker(http, clock, lambda: next(chances))
    assert [(await fetcher.fetch(held(clock), HOME, FREE)).retry_after for _ in range(2)] == [1.0, 3.0]


async def test_others_of_the_host_wait_as_well(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", response(HOME, 503, b"", (("Retry-After", "6"),)))
    host = held(clock, concurrency=2)
    assert (await fetcher.fetch(host, f"{HOME}1", FREE)).reason == "http_5xx"
    assert (await paced(clock, fetcher.fetch(host, f"{HOME}2", FREE), 10)).reason == "ok"
    assert http.sent[1] == (6, f"{HOME}2")


# -- what is known ----------------------------------------------------------------------------------------------

KNOWN = Known(7, "sha256:00", 5, '"v1"', "Sat, 14 Nov 2026 10:00:00 GMT")


async def test_a_known_page_is_asked_for_only_if_it_changed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, response(HOME, 304, b""))
    got = await fetcher.fetch(held(clock), HOME, FREE, known=KNOWN)
    asked = dict(http.requests[-1].headers)
    assert (asked["if-none-match"], asked["if-modified-since"]) == (KNOWN.etag, KNOWN.last_modified)
    assert (got.reason, got.status, got.same_as) == ("ok", 304, KNOWN)


@pytest.mark.parametrize("known", [None, Known(7, "sha256:00", 5)])
async def test_without_anything_to_compare_nothing_is_asked(fetcher: Asker, http: FakeHttp, clock: FakeClock, known):
    http.on(HOME, response(HOME, 304, b""))
    got = await fetcher.fetch(held(clock), HOME, FREE, known=known)
    assert "if-none-match" not in dict(http.requests[-1].headers)
    assert (got.reason, got.same_as) == ("protocol", None), "nobody asked whether it had changed"


async def test_a_plan_may_want_every_page_anew(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    await fetcher.fetch(held(clock), HOME, CrawlPlan((), robots=False, conditional=False), known=KNOWN)
    assert not {"if-none-match", "if-modified-since"} & dict(http.requests[-1].headers).keys()


async def test_what_is_known_of_a_url_is_not_asked_of_another(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(HOME, moved(HOME, "/2"))
    await fetcher.fetch(held(clock), HOME, FREE, known=KNOWN)
    assert ["if-none-match" in dict(r.headers) for r in http.requests] == [True, False]


async def test_hops_on_the_way_here_count(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(9):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    http.on(f"{HOME}2", response(HOME))
    assert (await fetcher.fetch(held(clock), f"{HOME}0", FREE, hops=3)).reason == "ok"
    assert (await fetcher.fetch(held(clock), f"{HOME}0", FREE, hops=4)).reason == "too_many_redirects"


async def test_redirects_of_as_many_hops_as_allowed_succeed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for n in range(FREE.max_redirects):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    got = await fetcher.fetch(held(clock), f"{HOME}0", FREE)
    assert (got.reason, got.moved_to) == ("ok", f"{HOME}{FREE.max_redirects}")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("text/html; charset=utf-8", "ok"), ("TEXT/HTML", "ok"), ("", "ok"), ("application/pdf", "content_type")],
)
async def test_a_run_may_want_some_types_only(fetcher: Asker, http: FakeHttp, clock: FakeClock, kind, reason):
    http.on(HOME, response(HOME, headers=(("Content-Type", kind),)))
    got = await fetcher.fetch(held(clock), HOME, CrawlPlan((), robots=False, content_types=("text/html",)))
    assert got.reason == reason


async def test_a_run_hears_once_of_the_sitemaps_of_a_site(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("Sitemap: /map.xml\nSitemap: https://b.example/more.xml\n"))
    host, plan = held(clock), CrawlPlan((HOME,), sitemaps=True)
    heard = [
        (await fetcher.fetch(host, f"{HOME}{n}", plan, run_id=run)).sitemaps for run, n in ((1, 1), (1, 2), (2, 1))
    ]
    named = ("https://a.example/map.xml", "https://b.example/more.xml")
    assert heard == [named, (), named]
    assert (await fetcher.fetch(host, HOME, PLAN)).sitemaps == (), "unless it does not want to"


# -- where links were found, and pages as browsers show them ----------------------------------------------------


async def test_every_hop_hears_of_the_page_and_robots_does_not(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    start, page = f"http://{HOST}/", f"http://{HOST}/links"
    http.on(start, moved(start, f"{start}2"))
    http.on(f"{start}2", moved(f"{start}2", HOME))
    await fetcher.fetch(held(clock), start, PLAN, found_on=page)
    told = {r.url: dict(r.headers).get("referer") for r in http.requests}
    assert told == {f"{start}robots.txt": None, start: page, f"{start}2": page, ROBOTS: None, HOME: start}


RENDERED = CrawlPlan((HOME,), render=True)


@pytest.fixture
def browser(http: FakeHttp, clock: FakeClock) -> Asker:
    return Asker(http, clock, max_bytes=1000, renders=True)


async def test_a_dynamic_page_is_rendered_and_what_is_no_page_is_not(browser: Asker, http: FakeHttp, clock: FakeClock):
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


async def test_without_a_service_a_dynamic_page_is_fetched(fetcher: Asker, http: FakeHttp, clock: FakeClock):
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
async def test_where_a_browser_lands_is_looked_at(
    browser: Asker, http: FakeHttp, clock: FakeClock, landed: str, reason: str, moved_to: str, elsewhere: str
):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /private"))
    http.on(HOME, response(landed))
    got = await browser.fetch(held(clock), HOME, RENDERED)
    assert (got.reason, got.moved_to, got.elsewhere) == (reason, moved_to, elsewhere)
    assert http.urls == [ROBOTS, HOME]
