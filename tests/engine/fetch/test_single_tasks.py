"""Single tasks at a redirect: the host on which they go on, and the headers that are not sent there."""

from typing import Any

import pytest

from longline.engine.fetch.fetcher import Fetched, Fetcher, FetchParts
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.fetch.run_credentials import RunCredentials
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.stored_secrets import Vault
from longline.model.fetch.credentials import MASK, Credentials
from longline.model.frontier.task import TaskRedirect
from longline.model.proxies.proxy_uri import Proxy
from longline.model.urls.normalization import dedupe_key
from longline.ports.records.proxies import PickedProxy
from longline.testing.clock import FakeClock
from tests.engine.fakes import AGENT, HOST, RUN, Asker, FakeHttp, FakeWays, claimed, moved
from tests.engine.fetch.test_fetcher import HOME, fetcher, held, http, paced
from tests.plans import changed, crawl_plan

__all__ = ["fetcher", "http"]  # fixtures

VAULT = Vault("key")
SINGLE = crawl_plan((HOME,), robots=False, single=True)
LOCKED = VAULT.lock(Credentials((("Authorization", "Bearer secret"), ("X-Shop", "7"))).text())
THERE = "https://b.example/there"


class OwnHeaders:
    """A fetcher with a vault, and proxies."""

    def __init__(self, http: FakeHttp, clock: FakeClock, *ways: PickedProxy) -> None:
        exits = ProxyRotation(FakeWays(*ways), clock)
        sender = Sender(http, clock, FetchSettings(AGENT), exits, credentials=RunCredentials(VAULT))
        parts = FetchParts(sender, RobotsRules(sender, clock), clock, PolitenessKey())
        self._fetcher, self._clock = Fetcher(parts, 10**6), clock

    async def fetch(self, path: str = "/1", **facts: Any) -> Fetched:
        plan = changed(SINGLE, robots=facts.pop("robots", False))
        task = claimed(1, path, **facts)
        fetched: Fetched = await paced(self._clock, self._fetcher.fetch(held(self._clock), task, plan), 5)
        return fetched


def sent(http: FakeHttp) -> list[tuple[str, str | None, str | None]]:
    """Return URL and own headers of every request."""
    found = [(r.url, {name.lower(): value for name, value in r.headers}) for r in http.requests]
    return [(url, headers.get("authorization"), headers.get("x-shop")) for url, headers in found]


async def test_a_redirect_to_another_host_moves_the_task(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    http.on(f"{HOME}2", moved(HOME, THERE))
    got = await fetcher.fetch(held(clock), f"{HOME}1", SINGLE, hops=3)
    assert (got.reason, got.elsewhere, got.redirected_to) == ("redirected", None, TaskRedirect(THERE, "b.example", 5))
    assert len(got.redirects) == 2


async def test_a_redirect_out_of_the_bounds_moves_no_task(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, THERE))
    got = await fetcher.fetch(held(clock), f"{HOME}1", changed(SINGLE, hosts=(HOST,)))
    assert (got.reason, got.elsewhere, got.redirected_to) == ("redirected", THERE, None)


async def test_a_page_of_another_task_is_kept_too(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, "/2"))
    fetcher.tasks.known.add((RUN, HOST, dedupe_key(f"{HOME}2")))
    got = await fetcher.fetch(held(clock), f"{HOME}1", SINGLE, depth=1)
    assert (got.reason, got.moved_to) == ("ok", f"{HOME}2")
    skipped = await fetcher.fetch(held(clock), f"{HOME}1", changed(SINGLE, single=False), depth=1)
    assert skipped.reason == "redirected"


async def test_the_number_of_redirects_to_other_hosts_is_bounded(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, THERE))
    plan = changed(SINGLE, max_redirects=4)
    assert (await fetcher.fetch(held(clock), f"{HOME}1", plan, hops=3)).redirected_to
    got = await fetcher.fetch(held(clock), f"{HOME}1", plan, hops=4)
    assert (got.reason, got.redirected_to) == ("too_many_redirects", None)


async def test_headers_of_a_task_go_to_the_origin_of_its_url_alone(http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", moved(HOME, f"http://{HOST}/2"))
    http.on(f"http://{HOST}/2", moved(HOME, "/3"))
    got = await OwnHeaders(http, clock).fetch(credentials=LOCKED, robots=True)
    assert got.reason == "ok"
    assert sent(http) == [
        (f"{HOME}robots.txt", None, None),
        (f"{HOME}1", "Bearer secret", "7"),
        (f"http://{HOST}/robots.txt", None, None),
        (f"http://{HOST}/2", None, None),
        (f"http://{HOST}/3", None, None),
    ]
    kept = [dict(one.headers) for one in got.exchanges]
    assert (kept[0]["Authorization"], kept[0]["X-Shop"]) == (MASK, MASK)


async def test_headers_of_a_task_do_not_go_to_another_host(http: FakeHttp, clock: FakeClock):
    got = await OwnHeaders(http, clock).fetch(credentials=LOCKED, home_id=9, hops=1)
    assert got.reason == "ok"
    assert sent(http) == [(f"{HOME}1", None, None)]


@pytest.mark.parametrize("ways", [(), (PickedProxy(4, Proxy("http", "192.0.2.1", 8000)),)])
async def test_the_proxy_of_the_last_request_is_returned(
    http: FakeHttp, clock: FakeClock, ways: tuple[PickedProxy, ...]
):
    got = await OwnHeaders(http, clock, *ways).fetch()
    assert got.proxy_id == (4 if ways else None)
