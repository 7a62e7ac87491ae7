import asyncio
import gzip

import pytest

from longline.engine.fetch.robots import RobotsCache
from longline.engine.frontier.leased_hosts import TooSoon
from longline.model.fetch import robots as limits
from longline.model.fetch.robots import MAX_BYTES, Robots
from longline.model.frontier import reasons, retries
from longline.ports.http import FetchFailed
from longline.testing.clock import FakeClock
from tests.engine.fakes import Asker, FakeHttp, moved, response
from tests.engine.fetch.test_fetcher import FREE, HOME, PLAN, ROBOTS, fetcher, held, http, paced, rules
from tests.plans import changed

__all__ = ["fetcher", "http"]  # fixtures


async def test_a_url_that_robots_forbids_is_not_requested(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: longline\nDisallow: /secret\n"))
    host = held(clock)
    got = await fetcher.fetch(host, f"{HOME}secret/1", PLAN)
    assert (got.reason, got.response) == ("robots", None)
    assert (await fetcher.fetch(host, f"{HOME}open", PLAN)).reason == "ok"
    assert http.urls == [ROBOTS, f"{HOME}open"]


async def test_robots_txt_is_cut_at_its_own_bound(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"
    asked = {request.url: (request.max_bytes, request.cut) for request in http.requests}
    assert asked == {ROBOTS: (MAX_BYTES + 1, True), HOME: (1000, False)}


async def test_a_plan_may_ignore_robots_txt(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nDisallow: /\n"))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).reason == "ok"
    assert http.urls == [HOME]


async def test_simultaneous_tasks_request_robots_txt_once(fetcher: Asker, http: FakeHttp, clock: FakeClock):
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


async def test_rules_are_cached_for_the_site_and_for_a_bounded_time(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    for _ in range(3):
        await fetcher.fetch(held(clock), HOME, PLAN)
        clock.advance(limits.CACHE_SECONDS / 3)
    assert http.urls.count(ROBOTS) == 1
    await fetcher.fetch(held(clock), HOME, PLAN)
    assert http.urls.count(ROBOTS) == 2


async def test_another_site_has_rules_of_its_own(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    await fetcher.fetch(held(clock), HOME, PLAN)
    await fetcher.fetch(held(clock, host="b.example:8080", host_id=2), "https://b.example:8080/x", PLAN)
    assert http.urls[2:] == ["https://b.example:8080/robots.txt", "https://b.example:8080/x"]


@pytest.mark.parametrize("trouble", [response(ROBOTS, 503, b""), FetchFailed("dns", "no such name")])
async def test_a_lenient_plan_does_not_wait_for_rules(fetcher: Asker, http: FakeHttp, clock: FakeClock, trouble):
    lenient = changed(PLAN, lenient_robots=True)
    http.on(ROBOTS, trouble)
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason in ("dns", "http_5xx"), "other plans wait"
    for _ in range(3):
        assert (await fetcher.fetch(held(clock), HOME, lenient)).reason == "ok"
        clock.advance(limits.LENIENT_CACHE_SECONDS / 3)
    assert http.urls.count(ROBOTS) == 1, "the rules are cached for a day"


@pytest.mark.parametrize("status", [404, 403, 401, 410])
async def test_a_host_without_rules_is_open(fetcher: Asker, http: FakeHttp, clock: FakeClock, status):
    http.on(ROBOTS, response(ROBOTS, status, b"User-agent: *\nDisallow: /\n"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (FetchFailed("refused", "nobody there"), "refused"),
        (FetchFailed("dns", "no such name"), "dns"),
        (response(ROBOTS, 503), "http_5xx"),
        (response(ROBOTS, 101, b""), "odd_status"),
        (response(ROBOTS, 206, b"User-agent: *\nAllow: /"), "odd_status"),
        (response(ROBOTS, 429), "http_429"),
    ],
)
async def test_no_page_is_requested_after_a_failure_of_robots_txt(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, answer, word
):
    http.on(ROBOTS, answer)
    host = held(clock)
    got = [await fetcher.fetch(host, f"{HOME}{n}", PLAN) for n in range(3)]
    assert {g.reason for g in got} == {word}
    assert all("robots.txt" in (g.error or "") for g in got)
    assert http.urls == [ROBOTS], "tasks of the same moment request it once"


@pytest.mark.parametrize("status", [429, 503])
async def test_a_retry_after_of_robots_txt_is_kept_by_the_host_and_the_page(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, status
):
    later = (("Retry-After", "7"),)
    http.on(ROBOTS, response(ROBOTS, status, b"", later), rules("User-agent: *\nDisallow: /no\n"))
    host = held(clock, concurrency=2)
    got = await fetcher.fetch(host, HOME, PLAN)
    assert (got.reason, got.retry_after, host.next_start) == (reasons.for_status(status), 7.0, 7.0)
    clock.advance(limits.FAILURE_CACHE_SECONDS)
    assert (await paced(clock, fetcher.fetch(host, f"{HOME}no", PLAN), 10)).reason == "robots"
    assert (await fetcher.fetch(host, f"{HOME}yes", PLAN)).reason == "ok"
    assert http.sent == [(0, ROBOTS), (7, ROBOTS), (7, f"{HOME}yes")]


async def test_a_429_of_robots_txt_without_a_time_doubles_the_pause(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, response(ROBOTS, 429, b""))
    host, waits = held(clock), []
    for _ in range(3):
        waits.append((await paced(clock, fetcher.fetch(host, HOME, PLAN), 10)).retry_after)
        clock.advance(limits.FAILURE_CACHE_SECONDS)
    assert waits == [2.0, 4.0, 8.0]
    assert http.sent == [(0, ROBOTS), (2, ROBOTS), (6, ROBOTS)]


async def test_a_429_of_a_redirected_robots_txt_fails_the_page(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, moved(ROBOTS, "https://www.b.example/robots.txt"))
    http.on("https://www.b.example/robots.txt", response(ROBOTS, 429, b"", (("Retry-After", "7"),)))
    got = await fetcher.fetch(held(clock), HOME, PLAN)
    assert (got.reason, got.retry_after) == ("http_429", 7.0)


async def test_a_lenient_plan_waits_for_the_retry_after_of_robots_txt(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, response(ROBOTS, 429, b"", (("Retry-After", "7"),)))
    lenient = changed(PLAN, lenient_robots=True)
    assert (await paced(clock, fetcher.fetch(held(clock), HOME, lenient), 10)).reason == "ok"
    assert http.sent == [(0, ROBOTS), (7, HOME)]


async def test_every_attempt_requests_failed_rules_anew(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    """A short failure of a host must not fail all its pages by a cached result."""
    http.on(ROBOTS, FetchFailed("refused", "nobody there"), rules("User-agent: *\nDisallow: /no\n"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "refused"
    clock.advance(retries.retry_seconds(1))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"
    assert (await fetcher.fetch(held(clock), f"{HOME}no", PLAN)).reason == "robots"


async def test_redirected_rules_on_the_same_host_are_followed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, moved(ROBOTS, "/rules.txt"))
    http.on(f"{HOME}rules.txt", rules("User-agent: *\nDisallow: /x\n"))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"


async def test_redirected_rules_on_another_host_are_followed(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    """A redirect from example.com to www.example.com is usual."""
    http.on(ROBOTS, moved(ROBOTS, "https://www.b.example/robots.txt"))
    http.on("https://www.b.example/robots.txt", rules("User-agent: *\nDisallow: /x\n"))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"
    assert (await fetcher.fetch(held(clock), f"{HOME}y", PLAN)).reason == "ok"


async def test_rules_in_a_redirect_loop_allow_everything(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, moved(ROBOTS, "/robots.txt"))
    assert (await fetcher.fetch(held(clock), HOME, PLAN)).reason == "ok"
    assert http.urls.count(ROBOTS) == limits.MAX_REDIRECTS + 1


async def test_rules_may_be_compressed_or_broken(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    encoded = (("Content-Encoding", "gzip"),)
    http.on(ROBOTS, response(ROBOTS, 200, gzip.compress(b"User-agent: *\nDisallow: /x\n"), encoded))
    assert (await fetcher.fetch(held(clock), f"{HOME}x", PLAN)).reason == "robots"
    long = b"User-agent: *\nDisallow: /x\n" + b"#" * 2 * MAX_BYTES
    http.on(other := "https://c.example/robots.txt", response(other, 200, gzip.compress(long), encoded))
    got = await fetcher.fetch(held(clock, host="c.example"), "https://c.example/x", PLAN)
    assert got.reason == "robots", "robots.txt may be longer than a page"
    other = "https://b.example/robots.txt"
    http.on(other, response(other, 200, b"\x1f\x8b broken", encoded))
    got = await fetcher.fetch(held(clock, host="b.example"), "https://b.example/x", PLAN)
    assert got.reason == "ok", "an unreadable robots.txt has no rules, and is no failure of the page"


async def test_crawl_delay_holds_from_the_request_of_robots_txt(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 4\n"))
    host = held(clock, delay_ms=1000)
    for n in range(3):
        await paced(clock, fetcher.fetch(host, f"{HOME}{n}", PLAN), 10)
    assert [at for at, _ in http.sent] == [0, 4, 8, 12]


async def test_a_shorter_crawl_delay_does_not_shorten_the_delay(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 0.5\n"))
    host = held(clock, delay_ms=2000)
    await paced(clock, fetcher.fetch(host, HOME, PLAN), 10)
    assert [at for at, _ in http.sent] == [0, 2]


async def test_a_very_long_crawl_delay_is_cut(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(ROBOTS, rules("User-agent: *\nCrawl-delay: 86400\n"))
    host = held(clock)
    with pytest.raises(TooSoon):  # a minute is longer than the lease: the task is returned and claimed again
        await fetcher.fetch(host, HOME, PLAN)
    assert (host.pace.delay, host.next_start) == (limits.MAX_CRAWL_DELAY_SECONDS, limits.MAX_CRAWL_DELAY_SECONDS)


def test_the_cache_evicts_the_least_recently_used_site():
    cache = RobotsCache(origins=2)
    for name in ("a", "b", "a", "c"):
        cache.put(name, Robots.open(), 0.0)
    assert [cache.get(name, 1.0) is None for name in ("a", "b", "c")] == [False, True, False]
