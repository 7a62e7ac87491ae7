import asyncio
import gzip
from email.utils import formatdate
from typing import Any

import pytest

from longline.engine import fetch
from longline.engine.fetch import Fetcher, FetchSettings, LeaseLost, RobotsCache
from longline.engine.frontier import HeldHost, TooSoon
from longline.model import fate
from longline.model.encoding import ACCEPT_ENCODING
from longline.model.plan import CrawlPlan
from longline.model.robots import Robots
from longline.ports.http import FetchFailed
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import HOST, FakeHttp, claimed, lease, moved, response

ROBOTS = f"https://{HOST}/robots.txt"
HOME = f"https://{HOST}/"
PLAN = CrawlPlan((HOME,))
FREE = CrawlPlan((HOME,), robots=False)
AGENT = "longline/1.0"


@pytest.fixture
def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
def fetcher(http: FakeHttp, clock: FakeClock) -> Fetcher:
    return Fetcher(http, clock, FetchSettings(AGENT, max_bytes=1000), chance=lambda: 0.5)


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


async def test_a_page_comes_with_its_bytes_and_its_time(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    clock.advance(5)
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.status, got.body, got.at) == ("ok", 200, b"<title>T</title>", START + 5000)
    assert http.urls == [ROBOTS, HOME]
    assert {("user-agent", AGENT), ("accept-encoding", ACCEPT_ENCODING)} <= set(http.requests[1].headers)
    assert http.requests[1].max_bytes == 1000


@pytest.mark.parametrize("word", sorted((fate.RETRYABLE | fate.FINAL) - {"http_429", "http_5xx", "http_4xx"}))
async def test_every_failure_of_the_client_keeps_its_word(fetcher: Fetcher, http: FakeHttp, clock: FakeClock, word):
    http.on(HOME, FetchFailed(word, "why"))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.error, got.response) == (word, "why", None)


@pytest.mark.parametrize(
    ("status", "word"), [(400, "http_4xx"), (404, "http_4xx"), (410, "http_4xx"), (429, "http_429"), (503, "http_5xx")]
)
async def test_a_status_that_is_no_page_has_a_word(fetcher: Fetcher, http: FakeHttp, clock: FakeClock, status, word):
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
async def test_a_body_that_does_not_decode_fails(fetcher: Fetcher, http: FakeHttp, clock, headers, body, word):
    http.on(HOME, response(HOME, 200, body, headers))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.response) == (word, None)


async def test_nothing_is_sent_under_a_lease_that_is_gone(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    host = held(clock)
    host.lost = True
    with pytest.raises(LeaseLost):
        await fetcher.fetch(host, HOME, PLAN)
    expired = held(clock)
    clock.advance(30)
    with pytest.raises(LeaseLost):
        await fetcher.fetch(expired, HOME, FREE)
    assert http.sent == []


# -- robots -----------------------------------------------------------------------------------------------------


async def test_what_robots_forbids_is_not_asked_for(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: longline\nDisallow: /secret\n"))
    host = held(clock)
    got = await fetcher.fetch(host, f"{HOME}secret/1", PLAN)
    assert (got.reason, got.response) == ("robots", None)
    assert (await fetcher.fetch(host, f"{HOME}open", PLAN)).reason == "ok"
    assert http.urls == [ROBOTS, f"{HOME}open"]


async def test_a_plan_may_do_without_robots(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /\n"))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "ok"
    assert http.urls == [HOME]


async def test_rules_are_asked_for_once_by_many_at_once(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    let_go = asyncio.Event()

    async def slowly():
        await let_go.wait()
        return rules("User-agent: *\nDisallow: /3\n")

    http.on(ROBOTS, slowly)
    host = held(clock, concurrency=8)
    asked = [asyncio.create_task(fetcher.fetch(host, f"{HOME}{n}", PLAN)) for n in range(8)]
    await asyncio.sleep(0)
    let_go.set()
    got = await asyncio.gather(*asked)
    assert http.urls.count(ROBOTS) == 1
    assert [g.reason for g in got] == ["ok"] * 3 + ["robots"] + ["ok"] * 4


async def test_rules_are_remembered_for_the_host_and_not_for_ever(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    for _ in range(3):
        await fetcher.fetch(held(clock), HOME, PLAN)
        clock.advance(fetch.ROBOTS_SECONDS / 3)
    assert http.urls.count(ROBOTS) == 1
    await fetcher.fetch(held(clock), HOME, PLAN)
    assert http.urls.count(ROBOTS) == 2


async def test_another_host_has_rules_of_its_own(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    await fetcher.fetch(held(clock), HOME, PLAN)
    await fetcher.fetch(held(clock, host="b.example:8080", host_id=2), "https://b.example:8080/x", PLAN)
    assert http.urls[2:] == ["https://b.example:8080/robots.txt", "https://b.example:8080/x"]


@pytest.mark.parametrize("status", [404, 403, 401, 410])
async def test_a_host_without_rules_is_open(fetcher: Fetcher, http: FakeHttp, clock: FakeClock, status):
    http.on(ROBOTS, response(ROBOTS, status, b"User-agent: *\nDisallow: /\n"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (FetchFailed("refused", "nobody there"), "refused"),
        (FetchFailed("dns", "no such name"), "dns"),
        (response(ROBOTS, 503), "http_5xx"),
    ],
)
async def test_without_an_answer_about_rules_no_page_is_asked_for(
    fetcher: Fetcher, http: FakeHttp, clock: FakeClock, answer, word
):
    http.on(ROBOTS, answer)
    host = held(clock)
    got = [await fetcher.fetch(host, f"{HOME}{n}", PLAN) for n in range(3)]
    assert {g.reason for g in got} == {word}
    assert all("robots.txt" in (g.error or "") for g in got)
    assert http.urls == [ROBOTS], "tasks of the same moment ask once"


async def test_every_attempt_asks_for_rules_anew(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    """A host that was away for a moment must not fail all its pages out of memory."""
    http.on(ROBOTS, FetchFailed("refused", "nobody there"), rules("User-agent: *\nDisallow: /no\n"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "refused"
    clock.advance(fate.back_off(1))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"
    assert (await fetcher.fetch(held(clock), f"{HOME}no", PLAN)).reason == "robots"


async def test_rules_that_moved_on_the_same_host_are_followed(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, moved(ROBOTS, "/rules.txt"))
    http.on(f"{HOME}rules.txt", rules("User-agent: *\nDisallow: /x\n"))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"


async def test_rules_that_lie_on_another_host_are_followed(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    """As from example.com to www.example.com."""
    http.on(ROBOTS, moved(ROBOTS, "https://www.b.example/robots.txt"))
    http.on("https://www.b.example/robots.txt", rules("User-agent: *\nDisallow: /x\n"))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"
    assert (await fetcher.fetch(held(clock), f"{HOME}y", PLAN)).reason == "ok"


async def test_rules_that_move_in_circles_are_none(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, moved(ROBOTS, "/robots.txt"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"
    assert http.urls.count(ROBOTS) == fetch.MAX_HOPS + 1


async def test_rules_come_compressed_or_broken(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    encoded = (("Content-Encoding", "gzip"),)
    http.on(ROBOTS, response(ROBOTS, 200, gzip.compress(b"User-agent: *\nDisallow: /x\n"), encoded))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"
    other = "https://b.example/robots.txt"
    http.on(other, response(other, 200, b"\x1f\x8b broken", encoded))
    got = await fetcher.fetch(held(clock, host="b.example"), "https://b.example/x", PLAN)
    assert got.reason == "ok", "what cannot be read holds no rules, and is no failure of the page"


async def test_crawl_delay_holds_from_the_request_that_brought_it(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 4\n"))
    host = held(clock, delay_ms=1000)
    for n in range(3):
        await paced(clock, fetcher.fetch(host, f"{HOME}{n}", PLAN), 10)
    assert [at for at, _ in http.sent] == [0, 4, 8, 12]


async def test_a_crawl_delay_makes_nobody_faster(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 0.5\n"))
    host = held(clock, delay_ms=2000)
    await paced(clock, fetcher.fetch(host, HOME, PLAN), 10)
    assert [at for at, _ in http.sent] == [0, 2]


async def test_an_endless_crawl_delay_is_cut(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 86400\n"))
    host = held(clock)
    with pytest.raises(TooSoon):  # a minute is longer than the lease: the page goes back and comes again
        await fetcher.fetch(host, HOME, PLAN)
    assert (host.delay, host.next_start) == (fetch.MAX_CRAWL_DELAY, fetch.MAX_CRAWL_DELAY)


def test_the_cache_forgets_the_longest_unseen():
    cache = RobotsCache(hosts=2)
    for name in ("a", "b", "a", "c"):
        cache.put(name, Robots.open(), 0.0)
    assert [cache.get(name, 1.0) is None for name in ("a", "b", "c")] == [False, True, False]


# -- redirects --------------------------------------------------------------------------------------------------


async def test_redirects_of_a_host_go_at_its_pace(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, f"{HOME}3#part"))
    host = held(clock, delay_ms=2000)
    got = await paced(clock, fetcher.fetch(host, f"{HOME}1", FREE), 10)
    assert http.sent == [(0, f"{HOME}1"), (2, f"{HOME}2"), (4, f"{HOME}3")]
    assert (got.reason, got.elsewhere, got.response) == ("redirected", f"{HOME}3", None)


async def test_a_redirect_to_what_robots_forbids_is_not_followed(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /secret\n"))
    http.on(f"{HOME}1", moved(HOME, "/secret/door"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.status) == ("robots", 302)
    assert http.urls == [ROBOTS, f"{HOME}1"]


async def test_a_redirect_to_a_missing_page_is_a_failure_of_this_one(
    fetcher: Fetcher, http: FakeHttp, clock: FakeClock
):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", response(HOME, 404))
    got = await fetcher.fetch(held(clock), f"{HOME}1", PLAN)
    assert (got.reason, got.elsewhere) == ("http_4xx", None)


@pytest.mark.parametrize("elsewhere", ["https://b.example/", "http://a.example:8080/", "//www.a.example/x"])
async def test_a_redirect_to_another_host_is_handed_over(fetcher: Fetcher, http: FakeHttp, clock: FakeClock, elsewhere):
    http.on(HOME, moved(HOME, elsewhere, 301))
    got = await fetcher.fetch(held(clock), HOME, FREE)
    assert (got.reason, got.status) == ("redirected", 301)
    assert got.elsewhere == elsewhere.replace("//www", "https://www")
    assert http.urls == [HOME]


async def test_a_redirect_between_schemes_of_a_host_is_followed(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(f"http://{HOST}/", moved(HOME, HOME, 308))
    got = await fetcher.fetch(held(clock), f"http://{HOST}/", FREE)
    assert (got.reason, got.elsewhere) == ("redirected", HOME)


async def test_a_loop_is_seen(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, "/1"))
    got = await fetcher.fetch(held(clock), f"{HOME}1", FREE)
    assert (got.reason, got.error) == ("redirect_loop", f"redirected back to {HOME}1")
    assert http.urls == [f"{HOME}1", f"{HOME}2"]


async def test_redirects_come_to_an_end(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    for n in range(20):
        http.on(f"{HOME}{n}", moved(HOME, f"/{n + 1}"))
    got = await fetcher.fetch(held(clock), f"{HOME}0", FREE)
    assert got.reason == "too_many_redirects"
    assert len(http.sent) == fetch.MAX_HOPS + 1


@pytest.mark.parametrize("location", ["mailto:a@b.example", "javascript:void(0)", "https://", "ftp://b.example/"])
async def test_a_redirect_to_no_url_fails(fetcher: Fetcher, http: FakeHttp, clock: FakeClock, location):
    http.on(HOME, moved(HOME, location))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "bad_url"


async def test_a_redirect_without_a_place_is_the_answer(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
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
async def test_how_long_a_host_wants_to_be_left_alone(fetcher: Fetcher, http: FakeHttp, clock, value, seconds):
    http.on(HOME, response(HOME, 429, b"", (("Retry-After", value),)))
    host = held(clock)
    got = await fetcher.fetch(host, HOME, FREE)
    assert (got.reason, got.retry_after) == ("http_429", seconds)
    assert host.next_start == seconds, "the host is left alone, not this page only"


async def test_without_a_word_patience_doubles_until_the_host_answers(
    fetcher: Fetcher, http: FakeHttp, clock: FakeClock
):
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
    fetcher = Fetcher(http, clock, FetchSettings(AGENT), lambda: next(chances))
    assert [(await fetcher.fetch(held(clock), HOME, FREE)).retry_after for _ in range(2)] == [1.0, 3.0]


async def test_others_of_the_host_wait_as_well(fetcher: Fetcher, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", response(HOME, 503, b"", (("Retry-After", "6"),)))
    host = held(clock, concurrency=2)
    assert (await fetcher.fetch(host, f"{HOME}1", FREE)).reason == "http_5xx"
    assert (await paced(clock, fetcher.fetch(host, f"{HOME}2", FREE), 10)).reason == "ok"
    assert http.sent[1] == (6, f"{HOME}2")
