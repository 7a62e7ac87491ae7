"""Candidates from links of pages, on both engines."""

from dataclasses import replace
from typing import Any

import pytest

from longline.engine.discovery.candidate_finder import CACHE_SECONDS, Discovery, DiscoveryParts
from longline.model.discovery.candidate import DiscoveryRules
from longline.model.errors import Unavailable
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.discovery.contributions import contributed, reported
from tests.engine.fakes import part
from tests.engine.web import HandMadeWeb
from tests.engine.worker.test_reporter import Desk, done
from tests.plans import changed

AWAY = ("https://c.example/x", "https://www.c.example/y", "https://shop.example/", "https://d.example/", "http://[")


async def page(clock: FakeClock, *links: str, discover: bool = True) -> Any:
    found = done(await Desk(clock).claim(1), 1, links)
    return replace(found, plan=changed(found.plan, discover=discover, source_id=7))


@pytest.fixture
def web(records: Records) -> HandMadeWeb:
    return HandMadeWeb(records)


def discovery(web: HandMadeWeb, clock: FakeClock, **rules: Any) -> Discovery:
    parts = DiscoveryParts(web.records.sources, web.parts.seeder, clock)
    return Discovery(parts, DiscoveryRules(**rules))


async def test_unknown_sites_are_candidates_and_known_ones_are_fetched(web: HandMadeWeb, clock: FakeClock) -> None:
    source_id = await web.source("d")
    looking = discovery(web, clock, block=("shop",))

    await reported(web.records, looking.contribute, await page(clock, "https://a.example/2", *AWAY))

    [found] = await web.records.candidates.find(None, 10)
    assert (found.identity, found.home, found.url, found.source) == (
        "c.example",
        "https://c.example/",
        "https://c.example/x",
        "7",
    )
    assert list(await web.urls("frontier.discovered")) == ["https://d.example/"]
    decided = {name: await web.records.candidates.decisions(name, 9) for name in ("shop.example", "d.example")}
    assert [(d.step, d.reason) for [d] in decided.values()] == [
        ("find", "blocked"),
        ("find", f"source {source_id} has it"),
    ]


async def test_a_source_is_known_by_its_identity_too(web: HandMadeWeb, clock: FakeClock) -> None:
    await web.records.sources.add(NewSource("anna", "https://anna.example/", identity_key="substack:anna"))
    await reported(web.records, discovery(web, clock).contribute, await page(clock, "https://anna.substack.com/p/1"))
    assert await web.records.candidates.find(None, 10) == []


async def test_a_decision_about_a_site_is_stored_once_within_the_cache_time(web: HandMadeWeb, clock: FakeClock) -> None:
    looking = discovery(web, clock, allow=("nothing",))
    for _ in range(3):
        await reported(web.records, looking.contribute, await page(clock, *AWAY))
    assert len(await web.records.candidates.decisions("c.example", 9)) == 1
    clock.advance(CACHE_SECONDS)
    await reported(web.records, looking.contribute, await page(clock, *AWAY))
    assert len(await web.records.candidates.decisions("c.example", 9)) == 2


async def test_a_source_without_a_url_matches_no_link(web: HandMadeWeb, clock: FakeClock) -> None:
    await web.records.sources.add(NewSource("c.example", "nowhere"))
    await reported(web.records, discovery(web, clock).contribute, await page(clock, "https://c.example/"))
    assert [row.identity for row in await web.records.candidates.find(None, 10)] == ["c.example"]


async def test_links_of_a_plan_without_discovery_make_no_candidate(web: HandMadeWeb, clock: FakeClock) -> None:
    await reported(web.records, discovery(web, clock).contribute, await page(clock, *AWAY, discover=False))
    assert await web.records.candidates.find(None, 10) == []


async def test_a_failed_lookup_of_sources_does_not_fail_the_report(web: HandMadeWeb, clock: FakeClock) -> None:
    class Away:
        async def get_by_identity(self, _: str) -> None:
            raise Unavailable("away")

    parts = DiscoveryParts(part(Away()), web.parts.seeder, clock)
    found = await contributed(Discovery(parts, DiscoveryRules()).contribute, [await page(clock, *AWAY)])
    assert found.findings is None


async def test_a_report_that_was_refused_is_made_again_with_all_its_findings(
    web: HandMadeWeb, clock: FakeClock
) -> None:
    looking = discovery(web, clock)
    found = await page(clock, *AWAY)
    for _ in range(2):
        refused = await contributed(looking.contribute, [found])
        assert [sighting.identity for sighting in refused.sightings] == ["c.example", "shop.example", "d.example"]
    refused.written()
    assert (await contributed(looking.contribute, [found])).findings is None
