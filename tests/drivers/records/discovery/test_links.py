"""Links that lead away from their source, and the domains that they lead to."""

import msgspec
import pytest

from longline.model.discovery.link import DomainQuery, LinkDetails, LinkQuery, NewLink
from longline.model.runs.run import RunRow
from longline.model.sources.source import NewSource
from longline.model.urls.normalization import dedupe_key
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.world import admit, claim_one, ended, host_report, page, queued_run, report
from tests.drivers.records.world import url as task_of


async def name_of(records: Records, run: RunRow) -> str:
    """Return the public id of a run's source."""
    source = await records.sources.get(run.source_id or 0)
    assert source is not None
    return source.public_id


async def of_source(records: Records, name: str) -> RunRow:
    source = await records.sources.add(NewSource(name, f"https://{name}.example/"))
    return await queued_run(records, source_id=source.id)


def link(run: RunRow, url: str, depth: int = 1, parent: str = "https://p.example/") -> NewLink:
    return NewLink(run.id, url, parent, depth)


async def urls(records: Records, query: LinkQuery | None = None, **more: int) -> list[str]:
    rows, _ = await records.links.find(query or LinkQuery(), **more)
    return [row.url.removeprefix("https://") for row in rows]


async def test_a_link_is_stored_once_for_each_source(records: Records, clock: FakeClock):
    one, two = await of_source(records, "one"), await of_source(records, "two")
    assert await records.links.save([link(one, "https://www.x.example/a"), link(two, "https://www.x.example/a")]) == 2
    clock.advance(1.0)
    again = [link(one, "https://www.x.example/a", depth=9), link(one, "https://www.x.example/a", depth=3, parent="q")]
    assert await records.links.save(again) == 1
    rows, total = await records.links.find(LinkQuery(source_name="one"))
    assert total == 1
    [row] = rows
    assert (row.depth, row.parent_url, row.domain, row.taken) == (3, "q", "x.example", False)
    assert (row.updated_at - row.discovered_at, row.source) == (1000, await name_of(records, one))
    assert len(await urls(records)) == 2
    assert await records.links.save([]) == 0


async def test_spellings_that_are_equal_are_one_link(records: Records):
    run = await of_source(records, "one")
    assert await records.links.save([link(run, "https://x.example/%7Eu"), link(run, "https://x.example/~u")]) == 1
    await records.links.save([link(run, "https://x.example/%7eu", depth=5)])
    assert await urls(records) == ["x.example/~u"]
    learnt = [LinkDetails("https://x.example/%7Eu", 404, None), LinkDetails("https://x.example/~u", 200, "text/html")]
    assert await records.links.update_from_pages(learnt) == 1
    assert await answers(records) == {"https://x.example/~u": (200, "text/html")}


async def test_long_urls_are_stored(records: Records):
    run = await of_source(records, "one")
    await records.links.save([link(run, "https://x.example/" + "a" * 8000)])
    assert len((await urls(records))[0]) > 8000


async def test_links_are_filtered_sorted_and_paged(records: Records, clock: FakeClock):
    one, two = await of_source(records, "one"), await of_source(records, "two")
    for run, url in [(one, "a.example/50%"), (two, "b.example/"), (one, "c.example/A_B")]:
        await records.links.save([link(run, f"https://{url}")])
        clock.advance(1.0)
    [first] = (await records.links.find(LinkQuery(search="a.example"), limit=1))[0]
    assert await records.links.take(first.uid)
    everything = ["c.example/A_B", "b.example/", "a.example/50%"]
    assert await urls(records) == everything
    assert await urls(records, LinkQuery(sort="discovered_at", rising=True)) == everything[::-1]
    assert (await urls(records, LinkQuery(sort="updated_at")))[0] == "a.example/50%"
    assert await urls(records, limit=1, offset=1) == ["b.example/"]
    assert (await records.links.find(LinkQuery(), limit=1, offset=9)) == ([], 3)
    assert await urls(records, LinkQuery(taken=True)) == ["a.example/50%"]
    assert await urls(records, LinkQuery(taken=False, source=await name_of(records, one))) == ["c.example/A_B"]
    assert await urls(records, LinkQuery(search="%")) == ["a.example/50%"]
    assert await urls(records, LinkQuery(search="a_b")) == ["c.example/A_B"]
    assert await urls(records, LinkQuery(domain="b.example")) == ["b.example/"]


async def test_a_link_is_found_taken_and_removed_by_its_id(records: Records):
    await records.links.save([link(await of_source(records, "one"), "https://a.example/")])
    [[row], _] = await records.links.find(LinkQuery())
    assert await records.links.get(row.uid) == row
    assert await records.links.get("nobody") is None
    assert [await records.links.take(uid) for uid in (row.uid, "nobody")] == [True, False]
    assert [await records.links.remove(row.uid) for _ in range(2)] == [True, False]


async def test_the_links_to_a_domain_are_summed_up(records: Records, clock: FakeClock):
    one, two = await of_source(records, "one"), await of_source(records, "two")
    start = clock.now()
    found = [
        link(one, "https://x.example/1"),
        link(one, "https://www.x.example/2", depth=4),
        link(two, "https://x.example/1"),
    ]
    await records.links.save(found)
    clock.advance(1.0)
    await records.links.save([link(two, "https://two.example/"), link(two, "https://nottwo.example/")])
    rows, total = await records.links.domains(DomainQuery())
    assert (total, [row.domain for row in rows]) == (3, ["x.example", "nottwo.example", "two.example"])
    first = rows[0]
    assert (first.links, first.source_count, first.depth, first.status) == (3, 2, 2.0, "active")
    assert (first.first_seen, first.last_seen, first.sources) == (start, start, ("one", "two"))
    assert (first.ok, first.html, first.notes, first.is_source) == (0.0, 0.0, None, False)
    assert {row.domain: row.is_source for row in rows[1:]} == {"nottwo.example": False, "two.example": True}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (DomainQuery(sort="domain"), ["z", "m", "a"]),
        (DomainQuery(sort="domain", rising=True), ["a", "m", "z"]),
        (DomainQuery(sort="last_seen", rising=True), ["z", "m", "a"]),
        (DomainQuery(sort="source_count"), ["m", "a", "z"]),
        (DomainQuery(status="ignored"), ["m"]),
        (DomainQuery(status="active"), ["z", "a"]),
        (DomainQuery(search="M.ex"), ["m"]),
        (DomainQuery(domain="a.example"), ["a"]),
        (DomainQuery(domain="example"), []),
    ],
)
async def test_domains_are_filtered_and_sorted(
    records: Records, clock: FakeClock, query: DomainQuery, found: list[str]
):
    one, two = await of_source(records, "one"), await of_source(records, "two")
    for name, runs, amount in [("z", [one], 3), ("m", [one, two], 1), ("a", [two], 1)]:
        await records.links.save([link(run, f"https://{name}.example/{n}") for run in runs for n in range(amount)])
        clock.advance(1.0)
    assert await records.links.judge(["m.example", "m.example"], "ignored", "why") == 1
    rows, total = await records.links.domains(query)
    assert ([row.domain.removesuffix(".example") for row in rows], total) == (found, len(found))


async def test_the_review_of_a_domain_is_kept(records: Records):
    await records.links.save([link(await of_source(records, "one"), "https://a.example/")])
    for status, notes in [("reviewing", "look"), ("promoted", None)]:
        await records.links.judge(["a.example"], status, notes)
    [[row], _] = await records.links.domains(DomainQuery())
    assert (row.status, row.notes) == ("promoted", "look")


async def answers(records: Records) -> dict[str, tuple[int | None, str | None]]:
    rows, _ = await records.links.find(LinkQuery())
    return {row.url: (row.status, row.content_type) for row in rows}


async def test_a_link_has_the_status_of_its_page(records: Records):
    one, two = await of_source(records, "one"), await of_source(records, "two")
    there, gone = "https://x.example/a", "https://x.example/b"
    await records.links.save([link(one, there), link(two, there), link(one, gone)])
    learnt = [
        LinkDetails(there, 200, "text/html"),
        LinkDetails(gone, 404, None),
        LinkDetails("https://y.example/", 200, None),
    ]
    assert await records.links.update_from_pages(learnt) == 3
    assert await answers(records) == {there: (200, "text/html"), gone: (404, None)}
    await records.links.save([link(one, there, depth=7)])
    assert (await answers(records))[there] == (200, "text/html"), "the status is kept when the link is found again"
    assert await records.links.update_from_pages([LinkDetails(there, 500, None)]) == 2
    assert (await answers(records))[there] == (500, "text/html")
    assert await records.links.update_from_pages([]) == 0


async def test_a_new_link_has_the_status_of_an_earlier_visit(records: Records):
    run, visited = await of_source(records, "one"), "https://a.example/"
    await admit(records, msgspec.structs.replace(task_of(run), key=dedupe_key(visited)))
    lease = await claim_one(records)
    segment = WrittenSegment(await records.segments.begin("warc/1", 1), 1, 1)
    done = host_report(lease, [ended(lease.tasks[0], page=page())])
    assert not (await report(records, done, segment=segment)).refused
    await records.links.save([link(run, visited), link(run, "https://a.example/other")])
    assert await answers(records) == {visited: (200, "text/html"), "https://a.example/other": (None, None)}
