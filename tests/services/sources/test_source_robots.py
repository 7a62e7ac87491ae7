"""The robots.txt of a source: fetched on order, stored, and signalled to workers."""

import asyncio

import msgspec
import pytest

from longline.drivers.signals.local import LocalSignals
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsCache
from longline.engine.fetch.robots_file import RobotsFiles
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.errors import BadInput, NotFound
from longline.model.fetch.robots import Robots
from longline.model.proxies.proxy_uri import Proxy
from longline.model.signal_topics import ROBOTS_TOPIC
from longline.model.sources.source import NewSource, SourceRow
from longline.plugins.registry import Registry
from longline.ports.http import FetchFailed
from longline.ports.records import Records
from longline.ports.records.proxies import PickedProxy
from longline.services.sources.source_robots import RobotsNotFetched, SourceRobots
from longline.services.sources.sources import Sources
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.engine.fakes import AGENT, FakeHttp, FakeWays, moved, response

URL = "https://shop.example/robots.txt"
DEFAULT_DELAY_MS = 1000


class Stage:
    """A source, and the service with a client that answers from a table."""

    def __init__(self, records: Records, clock: FakeClock) -> None:
        self.records, self.clock, self.http, self.signals = records, clock, FakeHttp(clock), LocalSignals()
        self.sources = Sources(records.sources, records.feeds, clock, Registry())
        self.ways = FakeWays()
        proxies = ProxyRotation(self.ways, clock)
        files = RobotsFiles(Sender(self.http, clock, FetchSettings(AGENT), proxies), proxies)
        self.robots = SourceRobots(
            self.sources, files, self.signals, clock, delay_ms=DEFAULT_DELAY_MS, user_agent=AGENT
        )

    async def source(self, delay_ms: int | None = None) -> SourceRow:
        return await self.sources.make(NewSource("shop", "https://shop.example/start", delay_ms=delay_ms))

    def says(self, text: str, status: int = 200) -> None:
        self.http.on(URL, response(URL, status, text.encode()))


@pytest.fixture
def stage(records: Records, clock: FakeClock) -> Stage:
    return Stage(records, clock)


@pytest.mark.parametrize(
    ("delay_ms", "asked", "force", "meant"),
    [
        (None, "5", False, 5000),
        (None, "0.5", False, None),  # shorter than the delay of sources without their own
        (3000, "5", False, 5000),
        (8000, "5", False, 8000),
        (8000, "5", True, 5000),
        (None, "0.5", True, 500),
        (1000, "3600", False, 60_000),  # no site may pause a crawl without a bound
        (2000, "", True, 2000),
    ],
)
async def test_a_longer_crawl_delay_becomes_the_delay_of_the_source(
    stage: Stage, delay_ms: int | None, asked: str, force: bool, meant: int | None
):
    row = await stage.source(delay_ms)
    text = f"User-agent: *\nDisallow: /x\nCrawl-delay: {asked}\n"
    stage.says(text)
    found = await stage.robots.refresh(row.id, force=force)
    assert found.source.delay_ms == meant
    assert found.is_delay_taken is (meant != delay_ms)
    assert found.crawl_delay_seconds == (float(asked) if asked else None)
    stored = await stage.sources.get(row.id)
    assert (stored.robots_url, stored.robots_text, stored.robots_fetched_at) == (URL, text, stage.clock.now())


async def test_workers_forget_the_rules_of_the_site(stage: Stage):
    row = await stage.source()
    stage.says("")
    known = RobotsCache()
    for origin in ("https://shop.example", "http://www.shop.example:8080", "https://other.example"):
        known.put(origin, Robots.open(), 0.0)
    async with stage.signals.listen(ROBOTS_TOPIC) as signals:
        await stage.robots.refresh(row.id)
        known.forget((await asyncio.wait_for(anext(signals), 30)).text)
    found = [known.get(f"{origin}.example", 1.0) for origin in ("https://shop", "https://other")]
    assert found[0] is None
    assert found[1] is not None
    assert known.get("http://www.shop.example:8080", 1.0) is None


async def test_a_failure_keeps_the_stored_rules(stage: Stage):
    row = await stage.source()
    stage.says("User-agent: *\nCrawl-delay: 4\n")
    good = await stage.robots.refresh(row.id)
    for failure in (response(URL, 503), response(URL, 429), FetchFailed("connect_timeout", "too slow")):
        stage.http.on(URL, failure)
        with pytest.raises(RobotsNotFetched, match=r"robots\.txt of shop was not fetched"):
            await stage.robots.refresh(row.id, force=True)
    stage.http.on(URL, FetchFailed("egress", "10.0.0.1"))
    with pytest.raises(BadInput, match="may not be fetched") as refused:
        await stage.robots.refresh(row.id)
    assert "10.0.0.1" not in str(refused.value)
    assert await stage.sources.get(row.id) == good.source
    with pytest.raises(NotFound):
        await stage.robots.refresh(7)


async def test_redirects_are_followed_and_a_missing_file_has_no_rules(stage: Stage):
    row = await stage.source()
    elsewhere = "https://www.shop.example/robots.txt"
    stage.http.on(URL, moved(URL, elsewhere))
    stage.http.on(elsewhere, response(elsewhere, 200, b"User-agent: *\nCrawl-delay: 9\n"))
    assert (await stage.robots.refresh(row.id)).crawl_delay_seconds == 9
    stage.says("<html>not here</html>", 404)
    gone = await stage.robots.refresh(row.id)
    assert (gone.status, gone.source.robots_text, gone.source.delay_ms) == (404, "", 9000)


async def test_the_audit_has_one_row_without_the_text(stage: Stage):
    row = await stage.source()
    stage.says("# " + "x" * 70_000)
    with audited_as(AuditContext(Caller("ann", "ann", Role.ADMIN, "user"), "products", "source.refresh_robots")):
        found = await stage.robots.refresh(row.id)
    (noted,) = await stage.records.audit.find(AuditFilter(action="source.refresh_robots"))
    state = msgspec.json.decode(noted.after or "")
    assert (state["robots_fetched_at"], "robots_text" in state) == (stage.clock.now(), False)
    assert len(found.source.robots_text or "") == 65_536


async def test_the_request_uses_the_proxies_of_the_source_and_their_results_are_written(stage: Stage):
    way = PickedProxy(1, Proxy("http", "192.0.2.1", 8001), source_id=None)
    stage.ways.ways.append(way)
    row = await stage.sources.make(
        NewSource("shop", "https://shop.example/", proxy_pools='["homes","cheap"]', user_agent="shop/1")
    )
    stage.says("")
    await stage.robots.refresh(row.id)
    assert [(ask.source_id, ask.pool, ask.fallbacks) for ask in stage.ways.picks] == [(row.id, "homes", ("cheap",))]
    assert stage.http.requests[0].proxy == way.proxy
    assert [(use.proxy_id, use.ok) for use in stage.ways.used] == [(1, True)]
    assert dict(stage.http.requests[0].headers)["user-agent"] == "shop/1"
