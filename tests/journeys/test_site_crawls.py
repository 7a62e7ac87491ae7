"""Jobs and single URLs against small sites: the requested pages, the intervals between them, and their rows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from longline.settings import Settings
from longline.wiring.serve import _work
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.journeys.test_raw_content import ended, links, source, story
from tests.surfaces.intervals.platform import Door, open_door
from tests.surfaces.intervals.test_frontier import EMBEDDED, resting, rests, submit, until
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

FRONTIER = "/api/v1/frontier"
PAUSE = "SELECT delay_ms FROM hosts"


@pytest.fixture
def settings(migrated_url: str, tmp_path: Path) -> Settings:
    return Settings(
        data=tmp_path / "data",
        database=migrated_url,
        port=0,
        egress_allow=("127.0.0.0/8",),
        delay=0.0,
        poll=0.05,
        claim_pause=0.05,
        parse_processes=0,
    )


@asynccontextmanager
async def at_work(settings: Settings, **changes: Any) -> AsyncIterator[Door]:
    """Yield a whole platform at work."""
    stop = asyncio.Event()
    async with open_door(msgspec.structs.replace(settings, **changes)) as door:
        working = asyncio.create_task(
            _work(door.platform, frozenset({"fetch", "parse", "upkeep"}), stop, leashed=False)
        )
        try:
            yield door
        finally:
            stop.set()
            await working


async def run(client: httpx.AsyncClient, source_id: str, url: str) -> dict[str, Any]:
    """Run a job once, and return it after its end."""
    answer = await client.post("/api/v1/jobs", json={"source_id": source_id, "url": url})
    return await ended(client, answer.json()["id"])


async def listed(client: httpx.AsyncClient, path: str, key: str, amount: int, **params: str) -> list[Any]:
    """Wait until a list has as many rows as given, and return them."""
    async with asyncio.timeout(10):
        while True:
            rows: list[Any] = (await client.get(path, params=params)).json()[key]
            if len(rows) >= amount:
                return rows
            await asyncio.sleep(0.05)


def asked(site: SiteHandle) -> list[str]:
    """Return the requested paths without robots.txt."""
    return [visit.path for visit in site.requests if visit.path != "/robots.txt"]


def gaps(site: SiteHandle) -> list[float]:
    """Return the seconds between requests, those for robots.txt included."""
    return [after.time - before.time for before, after in pairwise(site.requests)]


async def came(site: SiteHandle, amount: int) -> None:
    """Wait until that many pages were requested, but less than the timeout of an unanswered request."""
    async with asyncio.timeout(10):
        while True:
            if len(asked(site)) >= amount:
                return
            await asyncio.sleep(0.01)


def chain(length: int) -> dict[str, Answer]:
    """Return pages each of which links to the next."""
    names = ["/", *(f"/p{number}" for number in range(2, length + 1))]
    return {name: links(after) for name, after in pairwise(names)} | {names[-1]: links("/")}


async def test_10_1_a_link_is_followed_while_its_depth_is_allowed(settings: Settings):
    async with at_work(settings) as door, door.client() as client:
        for depth, pages in [(1, 1), (2, 2), (3, 3), (0, 3), (6, 6), (-1, 8)]:
            with running_site(pages=1) as site:
                site.site.extra |= chain(8)
                mine = await source(client, site, name=f"depth {depth}", max_depth=depth)
                assert (await run(client, mine, site.url))["status"] == "completed"
                assert asked(site) == ["/", *(f"/p{number}" for number in range(2, pages + 1))], depth


@pytest.mark.parametrize("logs", [True, False])
async def test_10_5_links_carry_the_depth_of_their_page_and_one_more(settings: Settings, logs: bool):
    with running_site(pages=1) as site, running_site(pages=1) as other:
        site.site.extra |= {
            "/": links("/a", f"{other.url}from-start"),
            "/a": links("/b", f"{other.url}from-a"),
            "/b": links("/c"),
        }
        changes = {"save_links": True, "frontier_links": True, "frontier": False, "run_logs": logs}
        async with at_work(settings, **changes) as door, door.client() as client:
            mine = await source(client, site, max_depth=2)
            await run(client, mine, site.url)
            await listed(client, "/api/v1/discovered-links", "links", 2)  # links are written after the page's report
            rows = await listed(client, FRONTIER, "urls", 2, origin="spider")
            told = {row["url"].removeprefix(site.url): (row["depth"], row["parent_url"]) for row in rows}
            assert told == {"a": (2, site.url), "b": (3, f"{site.url}a")}, (
                "links that are not followed are submitted too"
            )
            found = (await client.get("/api/v1/discovered-links")).json()["links"]
            assert {link["url"].removeprefix(other.url): link["depth"] for link in found} == {
                "from-start": 2,
                "from-a": 3,
            }
            [domain] = (await client.get("/api/v1/discovered-domains")).json()["domains"]
            assert domain["avg_depth"] == 2.5
        assert other.visits().total() == 0


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches with a lifetime of a moment."""
    monkeypatch.setattr("longline.engine.frontier.standing_runs.CACHE_SECONDS", 0.2)
    monkeypatch.setattr("longline.engine.frontier.host_pace.POLITEST_PACE_SECONDS", 0.2)


async def change(client: httpx.AsyncClient, source_id: str, **more: Any) -> None:
    answer = await client.put(f"/api/v1/sources/{source_id}", json=more)
    assert answer.status_code == 200, answer.text


async def spread(client: httpx.AsyncClient, site: SiteHandle, name: str, *sources: str) -> float:
    """Return the shortest time between requests for three new URLs of each of the sources, submitted at once."""
    before = len(site.requests)
    paths = {f"{name}-{source}-{number}": source for number in range(3) for source in sources}
    site.site.extra |= {f"/{path}": story() for path in paths}
    uids = [(await submit(client, f"{site.url}{path}", source_id=source))["id"] for path, source in paths.items()]
    for uid in uids:
        assert (await until(client, uid, resting))["status"] == "fetched"
    return min(gaps(site)[before:])


@pytest.mark.usefixtures("soon")
async def test_11_5_a_host_follows_the_rate_limit_of_its_source(settings: Settings):
    with running_site(pages=1) as site:
        async with at_work(settings) as door, door.client() as client:
            mine = await source(client, site, rate_limit="")
            await spread(client, site, "none", mine)
            assert await door.peek(PAUSE) == 0
            await change(client, mine, rate_limit="400ms")
            await asyncio.sleep(0.3)
            assert await spread(client, site, "slow", mine) >= 0.4
            assert await door.peek(PAUSE) == 400
            await change(client, mine, rate_limit="10ms")
            await asyncio.sleep(0.6)
            await spread(client, site, "fast", mine)
            assert await door.peek(PAUSE) == 10


@EMBEDDED
async def test_11_5_sources_on_one_host_share_the_politest_pause(settings: Settings):
    with running_site(pages=1) as site:
        async with at_work(settings) as door, door.client() as client:
            hasty = await source(client, site, name="hasty", rate_limit="10ms")
            patient = await source(client, site, name="patient", rate_limit="400ms")
            await rests(client, site.url, source_id=patient)
            assert await spread(client, site, "both", hasty, patient) >= 0.4


@EMBEDDED
async def test_11_5_a_crawl_delay_goes_before_a_shorter_rate_limit(settings: Settings):
    with running_site(pages=1, robots="User-agent: *\nCrawl-delay: 0.4\n") as site:
        async with at_work(settings) as door, door.client() as client:
            mine = await source(client, site, rate_limit="10ms")
            assert await spread(client, site, "kept", mine) >= 0.4


@EMBEDDED
async def test_11_5_a_host_follows_the_default_from_one_start_to_the_next(settings: Settings):
    with running_site(pages=1) as site:
        for delay in (0.4, 0.0, 0.2):
            async with at_work(settings, delay=delay) as door, door.client() as client:
                assert await spread(client, site, f"after-{delay}", "somebody") >= delay
                assert await door.peek(PAUSE) == delay * 1000


@pytest.mark.usefixtures("soon")
async def test_11_8_single_urls_follow_the_settings_of_their_source(settings: Settings):
    with running_site(pages=1) as site, running_site(pages=1) as browser:
        shown = msgspec.json.encode({"html": story().decode(), "final_url": f"{site.url}two", "status_code": 200})
        browser.site.extra["/render"] = Answer(body=shown, content_type="application/json")
        site.site.extra |= {"/one": story(), "/two": story()}
        async with at_work(settings, render_url=browser.url) as door, door.client() as client:
            mine = await source(client, site, name="before")
            await rests(client, f"{site.url}one", source_id=mine)
            await change(client, mine, name="after", render_mode="dynamic")
            await asyncio.sleep(0.3)
            await rests(client, f"{site.url}two", source_id=mine)
            names = (
                "SELECT COUNT(*) FROM runs WHERE kind = 'frontier.manual' AND plan LIKE '%\"source_name\":\"after\"%'"
            )
            assert await door.peek(names) == 1
        assert (site.visits()["/one"], site.visits()["/two"], browser.visits()["/render"]) == (1, 0, 1)


@EMBEDDED
@pytest.mark.parametrize(("said", "least"), [("300ms", 0.3), ("", 0.5)])
async def test_10_1_a_run_waits_as_long_as_its_source_says_or_the_operator(settings: Settings, said: str, least: float):
    with running_site(pages=1) as site:
        site.site.extra |= chain(4)
        async with at_work(settings, schedule_delay=0.5, random_delay=0.1) as door, door.client() as client:
            mine = await source(client, site, rate_limit=said, max_depth=-1)
            await run(client, mine, site.url)
            assert await door.peek(PAUSE) == least * 1000
        assert len(asked(site)) == 4
        assert min(gaps(site)) >= least


@EMBEDDED
async def test_10_1_a_run_asks_a_host_twice_at_once(settings: Settings):
    with running_site(pages=1) as site:
        site.site.extra |= {"/": links(*(f"/p{number}" for number in range(4)))}
        async with at_work(settings) as door, door.client() as client:
            mine = await source(client, site, rate_limit="50ms")
            await rests(
                client, f"{site.url}first", source_id=mine
            )  # the first request to a host goes alone: it is done here
            job = (await client.post("/api/v1/jobs", json={"source_id": mine, "url": site.url})).json()["id"]
            await came(site, 2)
            site.site.held_after = len(site.requests)
            await came(site, 4)
            await asyncio.sleep(0.3)
            assert len(asked(site)) == 4, "two requests are open, and no third is sent"
            site.site.held_after = None
            await ended(client, job)
