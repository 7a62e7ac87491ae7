"""First looks at candidates on both engines, with answers made by hand."""

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
    """A candidate whose first page answers so."""
    await web.records.candidates.add_sightings([sighting("b.example")], DiscoveryRules())
    if said:
        web.says["https://b.example/"] = said
    scout = CandidateProbe(web.parts, web.records.candidates)
    assert await scout.once() == 1
    assert await scout.once() == 0, "it is looked at once"
    await web.answer()
    assert await scout.once() == 1
    [found] = await web.records.candidates.find("pending", 10)
    return found


async def test_a_good_page_tells_of_itself(web: HandMadeWeb) -> None:
    found = await looked_at(web, Said(body=FEED))
    assert (found.title, found.feed_url, found.robots, found.risk) == ("B", "https://b.example/feed", True, 0)


async def test_a_place_that_forbids_us_is_told_so(web: HandMadeWeb) -> None:
    found = await looked_at(web, Said(None, reason="robots"))
    assert (found.robots, found.risk, found.title) == (False, 35, "")


async def test_a_place_that_is_not_there_is_more_doubtful(web: HandMadeWeb) -> None:
    found = await looked_at(web, None)
    assert (found.robots, found.risk) == (True, 30)
