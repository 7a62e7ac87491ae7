"""Rows that go with a report, on both engines."""

from collections.abc import Sequence

from longline.engine.parse.report_additions import ReportAdditions, ReportedPage, additions_of
from longline.model.discovery.candidate import Decision, DiscoveryRules, LinkSighting, PlaceFindings
from longline.model.discovery.link import LinkQuery, NewLink
from longline.model.frontier.host import HostReport
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import admit, claim_one, ended, host_report, running_run, url
from tests.engine.fakes import claimed
from tests.plans import crawl_plan

SIGHTING = LinkSighting("c.example", "https://c.example/", "https://c.example/x", "https://a.example/1", 1, "")
DECISION = Decision("d.example", "https://d.example/", "find", "blocked", 1)


async def test_each_contributor_adds_to_the_same_rows():
    told: list[str] = []

    async def first(pages: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        additions.links += [NewLink(page.task.run_id, "https://c.example/", page.task.url, 1) for page in pages]
        additions.after.append(lambda: told.append("first"))

    async def second(_: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        assert additions.links
        additions.rules = DiscoveryRules()
        additions.sightings.append(SIGHTING)
        additions.after.append(lambda: told.append("second"))

    found = await additions_of([first, second], [ReportedPage(claimed(), crawl_plan(()), None)])
    assert found.findings == PlaceFindings([], [SIGHTING], DiscoveryRules())
    assert told == []
    found.written()
    assert told == ["first", "second"]
    assert (await additions_of([], [])).findings is None


async def test_a_refused_report_leaves_no_link_and_no_candidate(records: Records):
    made = await running_run(records)
    await admit(records, url(made))
    lease = await claim_one(records)
    [task] = lease.tasks
    good = host_report(lease, [ended(task)])
    links = [NewLink(made.id, "https://c.example/x", task.url, 1)]
    findings = PlaceFindings([DECISION], [SIGHTING], DiscoveryRules())

    async def written(report: HostReport) -> tuple[bool, int, int, int]:
        reported = await records.frontier.report(ReportBatch(reports=[report], links=links, findings=findings))
        candidates, decisions = records.candidates, await records.candidates.decisions("d.example", 9)
        stored = (await records.links.find(LinkQuery()))[1]
        return reported.refused, stored, len(await candidates.find(None, 9)), len(decisions)

    stale = HostReport(host_id=good.host_id, token=good.token + 1, outcomes=good.outcomes)
    assert await written(stale) == (True, 0, 0, 0)
    assert await written(good) == (False, 1, 1, 1)
