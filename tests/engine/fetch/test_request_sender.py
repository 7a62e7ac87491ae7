from contextlib import suppress
from typing import Any

import msgspec
import pytest

from longline.engine.fetch.request_sender import FetchSettings, LeaseLost, RequestContext, Sender
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.proxies.proxy_uri import Proxy
from longline.model.runs.crawl_plan import CrawlPlan, Proxying
from longline.ports.http import FetchFailed, Response
from longline.ports.records.proxies import PickedProxy
from longline.testing.clock import FakeClock
from tests.engine.fakes import AGENT, FakeHttp, FakeWays, response, sender_of
from tests.engine.fetch.test_fetcher import HOME, held, http
from tests.plans import crawl_plan

__all__ = ["http"]  # a fixture

PLAN = CrawlPlan(())
FAULT = FetchFailed("proxy_failed", "gone", proxy_fault=True)


def context(run_id: int = 1, **plan: Any) -> RequestContext:
    return RequestContext(run_id, crawl_plan((), **plan))


def way(number: int) -> PickedProxy:
    return PickedProxy(number, Proxy("http", "192.0.2.1", 8000 + number))


def headers(http: FakeHttp, number: int = -1) -> dict[str, str]:
    return dict(http.requests[number].headers)


@pytest.fixture
def host(clock: FakeClock) -> LeasedHost:
    return held(clock, concurrency=8)


# -- headers ----------------------------------------------------------------------------------------------------


async def test_headers_of_the_plan_are_in_every_request_and_win(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    sender = sender_of(http, clock)
    wanted = context(headers=(("Accept", "text/html"), ("X-Key", "k")))
    await sender.send(host, HOME, RequestContext(1, wanted.plan, (("if-none-match", '"e"'),)))
    sent = http.requests[-1].headers
    assert [value for name, value in sent if name.lower() == "accept"] == ["text/html"]
    assert {("X-Key", "k"), ("user-agent", AGENT), ("if-none-match", '"e"')} <= set(sent)


async def test_user_agents_rotate_and_robots_rules_are_those_of_the_first(
    http: FakeHttp, clock: FakeClock, host: LeasedHost
):
    sender = sender_of(http, clock)
    wanted = context(user_agents=("one/1", "two/2"))
    for _ in range(3):
        await sender.send(host, HOME, wanted)
    assert [dict(r.headers)["user-agent"] for r in http.requests] == ["one/1", "two/2", "one/1"]
    assert (sender.agent(wanted.plan), sender.agent(PLAN)) == ("one/1", AGENT)


async def test_every_deadline_is_in_the_request(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    settings = FetchSettings(AGENT, connect_seconds=1, idle_seconds=2, total_seconds=3, max_bytes=4)
    await Sender(http, clock, settings, ProxyRotation(FakeWays(), clock)).send(host, HOME, context())
    r = http.requests[-1]
    assert (r.connect_seconds, r.idle_seconds, r.total_seconds, r.max_bytes) == (1, 2, 3, 4)


# -- cookies ----------------------------------------------------------------------------------------------------


async def test_cookies_are_sent_in_the_same_run_only(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    http.on(HOME, response(HOME, headers=(("Set-Cookie", "a=1; Path=/"), ("set-cookie", "b=2"))))
    sender = sender_of(http, clock)
    await sender.send(host, HOME, context(1))
    await sender.send(host, f"{HOME}2", context(1))
    assert sorted(headers(http)["cookie"].split("; ")) == ["a=1", "b=2"]
    await sender.send(host, f"{HOME}2", context(2))
    assert "cookie" not in headers(http)


async def test_a_plan_may_disable_cookies(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    http.on(HOME, response(HOME, headers=(("Set-Cookie", "a=1"),)))
    sender = sender_of(http, clock)
    for _ in range(2):
        await sender.send(host, HOME, context(cookies=False))
    assert "cookie" not in headers(http)


# -- repeated requests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [msgspec.structs.replace(response(HOME), resent_ms=4000), FetchFailed("reset", "gone", resent_ms=4000)]
)
async def test_a_repeated_request_delays_the_next_one(http: FakeHttp, clock: FakeClock, answer: Response | FetchFailed):
    async def late() -> Response:
        clock.advance(4.5)
        if isinstance(answer, FetchFailed):
            raise answer
        return answer

    host = held(clock, delay_ms=2000)
    begun = clock.monotonic()
    http.on(HOME, late)
    with suppress(FetchFailed):
        await sender_of(http, clock).send(host, HOME, context())
    assert host.next_start == pytest.approx(begun + 4 + 2)


# -- proxies ----------------------------------------------------------------------------------------------------


async def test_the_next_proxy_is_tried_after_a_failed_one(http: FakeHttp, clock: FakeClock):
    ways = FakeWays(way(1), way(2), way(3))
    http.on(HOME, FAULT, FAULT, response(HOME))
    sender = Sender(http, clock, FetchSettings(AGENT), ProxyRotation(ways, clock))
    sent = await sender.send(held(clock, concurrency=8), HOME, context())
    assert sent.response.status == 200
    ports = [r.proxy.port for r in http.requests if r.proxy]
    assert sorted(ports) == [8001, 8002, 8003]
    assert [ask.exclude for ask in ways.picks] == [{p - 8000 for p in ports[:n]} for n in range(3)]


async def test_every_use_is_recorded_with_the_success_of_the_proxy(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    ways = FakeWays(way(1))
    exits = ProxyRotation(ways, clock)
    sender = Sender(http, clock, FetchSettings(AGENT), exits)
    answers = [response(HOME, 200), response(HOME, 404), response(HOME, 503), response(HOME, 403), response(HOME, 429)]
    http.on(HOME, *answers, FetchFailed("tls", "the target's fault"), response(HOME))
    for _ in answers:
        await sender.send(host, HOME, context())
    with pytest.raises(FetchFailed):
        await sender.send(host, HOME, context())
    await exits.write_results()
    assert [u.ok for u in ways.used] == [True, True, True, False, False, True]


@pytest.mark.parametrize(
    ("failure", "shown"),
    [
        *((FetchFailed(kind, "before the proxy was asked"), []) for kind in ("dns", "egress", "bad_url")),
        *((FetchFailed(kind, "who was silent is unknown"), []) for kind in ("idle_timeout", "total_timeout")),
        (FetchFailed("network", "we closed"), []),
        *((FetchFailed(kind, "came through"), [True]) for kind in ("refused", "tls", "too_large", "protocol", "reset")),
        (FetchFailed("proxy_failed", "gone", proxy_fault=True), [False]),
    ],
)
async def test_a_failure_is_recorded_only_if_it_passed_through_the_proxy(
    http: FakeHttp, clock: FakeClock, host: LeasedHost, failure: FetchFailed, shown: list[bool]
):
    ways = FakeWays(way(1))
    exits = ProxyRotation(ways, clock)
    http.on(HOME, failure)
    with pytest.raises(FetchFailed):
        await Sender(http, clock, FetchSettings(AGENT), exits).send(host, HOME, context())
    await exits.write_results()
    assert [used.ok for used in ways.used] == shown


async def test_a_page_fails_after_all_proxies_have_failed(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    http.on(HOME, FAULT)
    with pytest.raises(FetchFailed) as caught:
        await sender_of(http, clock, way(1), way(2)).send(host, HOME, context())
    assert (caught.value.kind, len(http.requests)) == ("proxy_exhausted", 2)


async def test_a_page_tries_a_bounded_number_of_proxies(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    """A dead site looks like a dead proxy: trying each of a thousand proxies would be useless."""
    http.on(HOME, FAULT)
    with pytest.raises(FetchFailed, match="gone") as caught:
        await sender_of(http, clock, *map(way, range(1, 50))).send(host, HOME, context())
    assert (caught.value.kind, len(http.requests)) == ("proxy_exhausted", 10)


async def test_the_plan_bounds_the_number_of_proxies_of_a_page(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    http.on(HOME, FAULT)
    with pytest.raises(FetchFailed):
        await sender_of(http, clock, *map(way, range(1, 50))).send(
            host, HOME, context(proxying=Proxying(max_proxies=3))
        )
    assert len(http.requests) == 3


async def test_every_proxy_of_a_pool_may_be_tried(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    http.on(HOME, FAULT)
    pool = [msgspec.structs.replace(way(number), pool_size=15) for number in range(1, 50)]
    with pytest.raises(FetchFailed):
        await sender_of(http, clock, *pool).send(host, HOME, context(proxying=Proxying(pool="homes")))
    assert len(http.requests) == 15


async def test_a_failure_of_the_target_is_not_repeated_through_another_proxy(
    http: FakeHttp, clock: FakeClock, host: LeasedHost
):
    http.on(HOME, FetchFailed("tls", "not trusted"))
    with pytest.raises(FetchFailed, match="not trusted"):
        await sender_of(http, clock, way(1), way(2)).send(host, HOME, context())
    assert len(http.requests) == 1


async def test_no_request_is_sent_for_a_lost_host(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    host.lost = True
    with pytest.raises(LeaseLost):
        await sender_of(http, clock, way(1)).send(host, HOME, context())
    assert http.requests == []


async def test_pauses_have_a_random_part_if_the_plan_has_jitter(http: FakeHttp, clock: FakeClock):
    host = held(clock, delay_ms=2000)
    begun = clock.monotonic()
    sender = Sender(http, clock, FetchSettings(AGENT), ProxyRotation(FakeWays(), clock), lambda: 0.5)
    await sender.send(host, HOME, context(jitter_ms=1000))
    assert host.next_start - begun == pytest.approx(2.5)


# -- the Referer header -----------------------------------------------------------------------------------------

PAGE = f"{HOME}links"


async def test_the_referer_is_the_page_with_the_link(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    sender = sender_of(http, clock)
    await sender.send(host, HOME, RequestContext(1, PLAN, found_on=PAGE))
    assert headers(http)["referer"] == PAGE
    await sender.send(host, HOME, RequestContext(1, PLAN))
    assert "referer" not in headers(http)
    await sender.send(host, HOME.replace("https", "http"), RequestContext(1, PLAN, found_on=PAGE))
    assert "referer" not in headers(http)


async def test_a_plan_or_the_settings_may_replace_the_referer(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    wanted = crawl_plan((), headers=(("Referer", "https://own.example/"),))
    await sender_of(http, clock).send(host, HOME, RequestContext(1, wanted, found_on=PAGE))
    assert [h for h in http.requests[-1].headers if h[0].lower() == "referer"] == [("Referer", "https://own.example/")]
    await sender_of(http, clock, referer=False).send(host, HOME, RequestContext(1, PLAN, found_on=PAGE))
    assert "referer" not in headers(http)


async def test_a_rendered_page_uses_no_proxy(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    sender = sender_of(http, clock, way(1), renders=True)
    assert (sender.renders(crawl_plan((), render=True)), sender.renders(PLAN)) == (True, False)
    assert not sender_of(http, clock).renders(crawl_plan((), render=True))
    await sender.send(host, HOME, RequestContext(1, PLAN, render=True))
    await sender.send(host, HOME, RequestContext(1, PLAN))
    assert [(r.render, r.proxy) for r in http.requests] == [(True, None), (False, way(1).proxy)]


async def test_a_host_sticks_to_its_proxy(http: FakeHttp, clock: FakeClock, host: LeasedHost):
    exits = ProxyRotation(FakeWays(way(1), way(2)), clock, sticky=60.0)
    sender = Sender(http, clock, FetchSettings(AGENT), exits)
    for _ in range(3):
        await sender.send(host, HOME, context())
    assert [r.proxy for r in http.requests] == [way(1).proxy] * 3
