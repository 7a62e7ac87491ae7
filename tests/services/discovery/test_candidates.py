"""Decisions of people about candidates, on both engines."""

import pytest

from longline.model.discovery.candidate import DiscoveryRules, ProbeResult
from longline.model.errors import Conflict, NotFound
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.services.discovery.candidates import Candidates
from tests.drivers.records.discovery.test_candidates import sighting
from tests.engine.web import HandMadeWeb


@pytest.fixture
def web(records: Records) -> HandMadeWeb:
    return HandMadeWeb(records)


@pytest.fixture
def candidates(web: HandMadeWeb) -> Candidates:
    return Candidates(web.records.candidates, web.records.sources, web.parts.seeder)


async def pending(web: HandMadeWeb) -> int:
    await web.records.candidates.add_sightings([sighting("b.example")], DiscoveryRules())
    [found] = await web.records.candidates.fresh(10)
    await web.records.candidates.judge(found.id, ProbeResult("ok", 200, "B", "https://b.example/feed"), 0)
    return found.id


async def test_an_approved_candidate_is_a_disabled_source_and_a_url_of_the_frontier(
    web: HandMadeWeb, candidates: Candidates
) -> None:
    number = await pending(web)
    source = await candidates.approve(number)
    assert (source.name, source.base_url, source.enabled) == ("b.example", "https://b.example/", False)
    assert (source.identity_key, source.feed_url) == ("b.example", "https://b.example/feed")
    assert list(await web.urls("frontier.discovered")) == ["https://b.example/"]
    [row] = await candidates.find("approved", 10)
    assert row.source_id == source.id
    assert (await candidates.log(number))[0].reason == f"source {source.id} was made"
    with pytest.raises(Conflict, match="approved, not pending"):
        await candidates.approve(number)


async def test_an_interrupted_approval_is_completed(web: HandMadeWeb, candidates: Candidates) -> None:
    number = await pending(web)
    made = await web.records.sources.add(NewSource("mine", "https://b.example/", identity_key="b.example"))
    assert (await candidates.approve(number)).id == made.id
    assert [row.source_id for row in await candidates.find("approved", 10)] == [made.id]


async def test_a_rejected_candidate_makes_nothing(web: HandMadeWeb, candidates: Candidates) -> None:
    number = await pending(web)
    await candidates.reject(number, "dull")
    assert [row.id for row in await candidates.find("rejected", 10)] == [number]
    assert await web.records.sources.find() == []
    with pytest.raises(Conflict):
        await candidates.reject(number, "again")
    with pytest.raises(NotFound):
        await candidates.approve(number + 1)
