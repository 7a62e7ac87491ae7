"""Lists of URLs with their fates, on both engines."""

from collections import Counter

import pytest
from msgspec.structs import replace

from longline.model.frontier.fate import UrlFate, UrlFilters
from longline.model.frontier.host import HostReport
from longline.model.frontier.task import ClaimedTask, RedirectFacts, RenamedUrl
from longline.model.runs.run import RunRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch, WrittenSegment
from tests.drivers.records.world import ME, admit, claim_one, ended, host_report, page, running_run, url, urls


@pytest.fixture
async def run(records: Records) -> RunRow:
    """A run with a URL of every fate: one completed after a redirect, two failed, one skipped, one open."""
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 4))
    lease = await claim_one(records)
    first, *others = lease.tasks
    await admit(records, url(run, "b.example:8080", "/b"), url(run, "c.example", "/deep", parent_id=first.id, depth=1))
    outcomes = [
        ended(
            first,
            status=200,
            page=replace(page(), url="https://a.example/new"),
            renamed=RenamedUrl("https://a.example/new", b"k"),
        ),
        ended(others[0], TaskState.FAILED, "http_5xx", status=500, error="HTTP 500"),
        ended(others[1], TaskState.FAILED, "http_4xx", status=404, error="HTTP 404"),
        ended(others[2], TaskState.SKIPPED, "robots"),
    ]
    await _report(records, [host_report(lease, outcomes)], first, others[1])
    return run


async def _report(records: Records, reports: list[HostReport], moved: ClaimedTask, led: ClaimedTask) -> None:
    segment = await records.segments.begin("warc/1", ME)
    redirects = (
        RedirectFacts(moved.id, 0, 1, 1, "", 301, 7, moved.url, "https://a.example/old"),
        RedirectFacts(moved.id, 1, 2, 1, "", 302, 7, "https://a.example/old", "https://a.example/new"),
        RedirectFacts(led.id, 0, 3, 1, "", 302, 7, led.url, "https://a.example/gone"),
    )
    batch = ReportBatch(reports, segment=WrittenSegment(segment, 1, 10), redirects=redirects)
    assert not (await records.frontier.report(batch)).refused


async def fates(records: Records, run: RunRow, **filters: str) -> list[UrlFate]:
    return await records.tasks.url_fates(run.id, UrlFilters(**filters))


async def test_every_url_has_a_row_and_the_rows_add_up(records: Records, run: RunRow):
    found = await fates(records, run)
    assert [(f.fate, f.reason, f.status) for f in found] == [
        ("completed", "ok", 200),
        ("failed", "http_5xx", 500),
        ("failed", "http_4xx", 404),
        ("skipped", "robots", None),
        ("open", None, None),
        ("open", None, None),
    ]
    first, failed, led, *_, deep = found
    assert (first.url, first.final_url) == ("https://a.example/0", "https://a.example/new")
    assert first.fetched_at is not None
    assert (failed.final_url, failed.error, failed.attempts, failed.ended_at) == (None, "HTTP 500", 1, 1)
    assert led.final_url == "https://a.example/gone", "the host at which the task failed"
    assert (deep.found_on, deep.depth, deep.ended_at) == ("https://a.example/new", 1, None)
    sums = {(f.fate, f.reason): f.count for f in await records.runs.fates(run.id)}
    assert sums == Counter((f.fate, f.reason) for f in found if f.fate != "open")


async def test_filters_combine(records: Records, run: RunRow):
    assert len(await fates(records, run, fate="failed")) == 2
    assert [f.status for f in await fates(records, run, fate="failed", reason="http_5xx")] == [500]
    assert await fates(records, run, fate="failed", reason="http_5xx", host="c.example") == []
    assert [f.url for f in await fates(records, run, fate="open", host="C.example")] == ["https://c.example/deep"]


@pytest.mark.parametrize(("host", "count"), [("b.example", 1), ("b.example:8080", 1), ("example", 0), ("%", 0)])
async def test_a_host_is_named_with_or_without_its_port(records: Records, run: RunRow, host: str, count: int):
    assert len(await fates(records, run, host=host)) == count


async def test_lists_are_paged_by_id_and_of_one_run(records: Records, run: RunRow):
    other = await running_run(records)
    await admit(records, url(other))
    whole = await fates(records, run)
    first = await records.tasks.url_fates(run.id, UrlFilters(), limit=2)
    rest = await records.tasks.url_fates(run.id, UrlFilters(), after=first[-1].id)
    assert first + rest == whole
    assert len(await fates(records, other)) == 1
