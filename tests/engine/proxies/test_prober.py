import pytest

from longline.engine.proxies.prober import Prober
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.http import FetchFailed
from longline.ports.records.proxies import PickedProxy
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import FakeHttp, FakeWays, response

PAGE = "https://probe.example/"


@pytest.mark.parametrize(
    ("answer", "ok"),
    [
        (response(PAGE), True),
        (response(PAGE, 404), True),
        (response(PAGE, 403), False),
        (FetchFailed("proxy_refused", "no", proxy_fault=True), False),
        (FetchFailed("total_timeout", "nothing came"), False),
    ],
)
async def test_one_request_decides_about_a_proxy(clock: FakeClock, answer, ok):
    http, ways = FakeHttp(clock), FakeWays(PickedProxy(5, Proxy("socks5", "192.0.2.1", 1080, "me", "pw")))
    http.on(PAGE, answer)
    assert await Prober(ways, http, clock, PAGE).once() == 1
    assert [r.proxy for r in http.requests] == [ways.ways[0].proxy]
    assert [(u.proxy_id, u.ok, u.at) for u in ways.used] == [(5, ok, START)]


@pytest.mark.parametrize("kind", ["dns", "egress", "bad_url"])
async def test_a_probe_that_was_not_sent_has_no_result(clock: FakeClock, kind: str):
    http, ways = FakeHttp(clock), FakeWays(PickedProxy(5, Proxy("socks5", "192.0.2.1", 1080)))
    http.on(PAGE, FetchFailed(kind, "before the proxy was asked"))
    assert await Prober(ways, http, clock, PAGE).once() == 1
    assert ways.used == []


async def test_no_request_is_sent_without_a_proxy_to_probe(clock: FakeClock):
    http, ways = FakeHttp(clock), FakeWays()
    assert await Prober(ways, http, clock, PAGE).once() == 0
    assert (http.requests, ways.journal) == ([], [])
