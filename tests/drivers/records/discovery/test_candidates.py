"""Candidates for sources, on both engines."""

from longline.model.discovery.candidate import DiscoveryRules, LinkSighting, ProbeResult
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import queued_run, running_run

ANY = DiscoveryRules()
DAY = 86_400


def sighting(name: str, run_id: int = 1) -> LinkSighting:
    return LinkSighting(name, f"https://{name}/", f"https://{name}/x", "https://a.example/", run_id, "100000")


async def reasons(records: Records, identity: str) -> list[str]:
    return [decision.reason for decision in reversed(await records.candidates.decisions(identity, 100))]


async def test_a_place_is_one_candidate_while_it_is_open(records: Records) -> None:
    assert await records.candidates.add_sightings([sighting("b.example"), sighting("b.example")], ANY) == 1
    assert await records.candidates.add_sightings([sighting("b.example", 2), sighting("c.example", 2)], ANY) == 1
    [first, second] = await records.candidates.find(None, 10)
    assert (first.identity, first.seen, first.run_id, second.identity) == ("b.example", 2, 1, "c.example")
    assert await reasons(records, "b.example") == ["found", "already found"]


async def test_the_decision_of_a_person_is_kept(records: Records) -> None:
    await records.candidates.add_sightings([sighting("b.example")], ANY)
    [found] = await records.candidates.fresh(10)
    assert not await records.candidates.decide(found.id, "approved", "too early")
    assert await records.candidates.judge(found.id, ProbeResult("ok", 200, "B"), 5)
    assert not await records.candidates.judge(found.id, ProbeResult("ok"), 6), "a second judgement is refused"
    assert await records.candidates.decide(found.id, "rejected", "not wanted")
    assert await records.candidates.add_sightings([sighting("b.example")], ANY) == 0
    row = await records.candidates.get(found.id)
    assert row
    assert (row.verdict, row.risk, row.robots, row.title) == ("rejected", 5, True, "B")
    said = ["found", "risk 5, the look ended with ok", "not wanted", "was rejected"]
    assert await reasons(records, "b.example") == said
    assert await records.candidates.find("pending", 10) == []


async def test_a_probe_has_no_result_before_its_run_has_ended(records: Records) -> None:
    await records.candidates.add_sightings([sighting("b.example"), sighting("c.example")], ANY)
    one, other = await records.candidates.fresh(10)
    await records.candidates.look(one.id, (await running_run(records)).id)
    assert [row.id for row in await records.candidates.fresh(10)] == [other.id]
    assert await records.candidates.probed(10) == []


async def test_caps_of_a_day_and_of_a_run_hold(records: Records, clock: FakeClock) -> None:
    run = (await queued_run(records)).id
    rules = DiscoveryRules(per_day=3, per_run=2)
    many = [sighting(f"{n}.example", run) for n in range(4)]
    assert await records.candidates.add_sightings(many, rules) == 2
    assert await records.candidates.add_sightings([sighting(f"x{n}.example", run + 1) for n in range(4)], rules) == 1
    assert (await reasons(records, "2.example"))[0] == "the run has found as many as it may"
    assert (await reasons(records, "x3.example"))[0] == "the day's budget is used up"
    clock.advance(DAY)
    assert await records.candidates.add_sightings([sighting("y.example", run + 2)], rules) == 1
