"""The archive check: all damage is found and named, and nothing else; on each database, in a folder and on S3."""

import pytest

from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.archive.warc import Capture, info_record, response_record
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.states import RunState
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from longline.services.archive.archive_check import ArchiveCheck, Findings, Repair
from tests.plans import crawl_plan
from tests.services.kept import AT, keep

BODIES = {f"/{n}": f"<p>page {n}</p>".encode() * 20 for n in range(5)}


async def check(records: Records, blobs: Blobs) -> Findings:
    told: list[tuple[int, int]] = []
    found = await ArchiveCheck(records.pages, records.segments, blobs).run(lambda *step: told.append(step))
    assert told
    assert told[-1][0] == told[-1][1]
    return found


def named(found: Findings) -> dict[str, str]:
    return {damage.url.removeprefix("https://a.example"): damage.problem for damage in found.damaged}


async def test_a_whole_archive_has_no_damage(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "one", BODIES)
    assert await check(records, archive_blobs) == Findings(1, len(BODIES))


async def test_a_lost_segment_loses_each_of_its_pages(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "one", BODIES)
    await keep(records, archive_blobs, "two", {"/else": b"whole"})
    await archive_blobs.delete(["one"])
    found = await check(records, archive_blobs)
    assert named(found) == dict.fromkeys(BODIES, "the segment is lost")
    assert {(damage.run_id, damage.segment) for damage in found.damaged} == {(run.id, "one")}
    assert all(f"task {damage.task_id}" in str(damage) for damage in found.damaged)


async def test_a_short_segment_loses_the_pages_behind_its_end(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "one", BODIES)
    last = max(await records.pages.of_run(run.id), key=lambda row: row.start)
    data = await archive_blobs.get("one")
    await archive_blobs.put("one", data[:-1])
    found = await check(records, archive_blobs)
    assert named(found) == {last.url.removeprefix("https://a.example"): f"the segment ends before byte {len(data)}"}


async def test_one_wrong_bit_loses_one_page(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "one", BODIES)
    row = (await records.pages.of_run(run.id))[2]
    data = bytearray(await archive_blobs.get("one"))
    data[row.start + row.length // 2] ^= 4
    await archive_blobs.put("one", bytes(data))
    assert set(named(await check(records, archive_blobs))) == {row.url.removeprefix("https://a.example")}


async def test_a_record_of_another_page_is_damage(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "one", {"/": b"a" * 50})
    other = response_record(Capture("https://a.example/", AT, 200, (("Content-Type", "text/html"),), b"b" * 50))
    await archive_blobs.put("one", other.member)
    found = await check(records, archive_blobs)
    assert list(named(found)) == ["/"]


async def test_a_record_of_another_page_with_the_same_body_is_damage(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "one", {"/a": b"a" * 50})
    [row] = await records.pages.of_run(run.id)
    capture = Capture("https://a.example/b", AT, 200, (("Content-Type", "text/html"),), b"a" * 50)
    members = (response_record(capture).member for _ in range(10_000))  # the length of a compressed id varies
    await archive_blobs.put("one", next(member for member in members if len(member) == row.length))
    assert named(await check(records, archive_blobs)) == {"/a": "the record is that of another page"}


async def test_bytes_without_a_row_are_checked_too(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "one", BODIES)
    data = await archive_blobs.get("one")
    await archive_blobs.put("one", data + b"x")
    (damage,) = (await check(records, archive_blobs)).damaged
    assert str(damage) == f"one: the segment has {len(data) + 1} bytes instead of {len(data)}"


async def test_a_revisit_of_a_damaged_page_is_damaged(records: Records, archive_blobs: Blobs):
    first = await keep(records, archive_blobs, "one", {"/": b"same"})
    (row,) = await records.pages.of_run(first.id)
    await keep(records, archive_blobs, "two", {"/": b"same"}, body_of=row.task_id)
    assert not (await check(records, archive_blobs)).damaged
    await archive_blobs.delete(["one"])
    found = await check(records, archive_blobs)
    assert [damage.segment for damage in found.damaged] == ["one", "two"]
    assert found.damaged[1].problem == f"its body is in the record of task {row.task_id}, which is damaged"


async def test_a_page_that_was_fetched_again_is_no_damage(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "one", BODIES)
    await keep(records, archive_blobs, "two", {"/1": b"new", "/2": b"newer"})
    await archive_blobs.delete(["one"])
    found = await check(records, archive_blobs)
    assert set(named(found)) == {"/0", "/3", "/4"}
    assert {damage.url.removeprefix("https://a.example") for damage in found.replaced} == {"/1", "/2"}
    await archive_blobs.delete(["two"])
    assert len((await check(records, archive_blobs)).damaged) == 7, "a later page that is damaged too replaces nothing"


class Asked(PlanCache):
    """A cache with one plan for every run."""

    def __init__(self) -> None:
        self.plan = crawl_plan(("https://a.example/",), sitemaps=True)

    async def get(self, run_id: int) -> CrawlPlan:  # noqa: ARG002 - each is the same
        return self.plan


async def test_repair_fetches_damaged_pages_again_without_conditions(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "one", BODIES)
    await keep(records, archive_blobs, "two", {"/whole": b"whole"})
    await archive_blobs.delete(["one"])
    found = await check(records, archive_blobs)
    repair = Repair(Lifecycle(records), records.runs, records.pages, Asked())
    assert await repair.begin(found.damaged) == len(BODIES)
    (run,) = await records.runs.find(limit=1)
    assert (run.kind, run.state, run.admitted) == ("repair", RunState.RUNNING, len(BODIES))
    leases = await records.frontier.claim(ClaimRequest(7, 10, 100, 60_000))
    tasks = [task for lease in leases for task in lease.tasks]
    assert {task.url.removeprefix("https://a.example") for task in tasks} == set(BODIES)
    assert [task.known for task in tasks] == [None] * len(BODIES), (
        "no earlier page is known that could make a request conditional"
    )


@pytest.mark.parametrize("damage", [lambda info: info[:-1] + b"x", lambda info: info[:40] + bytes(9) + info[49:]])
async def test_a_damaged_warcinfo_is_found(records: Records, archive_blobs: Blobs, damage):
    info = info_record(AT, "one", {"software": "longline"})
    await keep(records, archive_blobs, "one", {"/": b"a"}, before=info.member)
    assert not (await check(records, archive_blobs)).damaged
    data = await archive_blobs.get("one")
    await archive_blobs.put("one", damage(info.member) + data[len(info.member) :])
    (found,) = (await check(records, archive_blobs)).damaged
    assert (found.segment, found.url) == ("one", "")
