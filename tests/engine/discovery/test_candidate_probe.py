"""Probes of candidates on both engines, with hand-made responses."""

import pytest

from longline.engine.discovery.candidate_probe import CandidateProbe
from longline.model.discovery.candidate import CandidateRow, DiscoveryRules
from longline.ports.records import Records
from tests.drivers.records.discovery.test_candidates import sighting
from tests.engine.web import HandMadeWeb, Said

FEED = b'<title>B</title><link rel=alternate type="application/rss+xml" href="/feed">'


@pytest.fixture
def web(records: Records) -> HandMadeWeb:
    return HandMadeWeb(records)


async def looked_at(web: HandMadeWeb, said: Said | None) -> CandidateRow:
    """Return a candidate after the probe of its first page."""
    await web.records.candidates.add_sightings([sighting("b.example")], DiscoveryRules())
    if said:
        web.says["https://b.example/"] = said
    scout = CandidateProbe(web.parts, web.records.candidates)
    assert await scout.once() == 1
    assert await scout.once() == 0, "a candidate is probed once"
    await web.answer()
    assert await scout.once() == 1
    [found] = await web.records.candidates.find("pending", 10)
    return found


async def test_a_probe_finds_the_title_and_the_feed(web: HandMadeWeb) -> None:
    found = await looked_at(web, Said(body=FEED))
    assert (found.title, found.feed_url, found.robots, found.risk) == ("B", "https://b.example/feed", True, 0)


async def test_a_candidate_that_forbids_crawling_is_marked_so(web: HandMadeWeb) -> None:
    found = await looked_at(web, Said(None, reason="robots"))
    assert (found.robots, found.risk, found.title) == (False, 35, "")


async def test_a_missing_page_raises_the_risk(web: HandMadeWeb) -> None:
    found = await looked_at(web, None)
    assert (found.robots, found.risk) == (True, 30)
