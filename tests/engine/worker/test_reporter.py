import asyncio
import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator

from longline.engine.archive.page_records import keep_page
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.engine.frontier.admission import BATCH_SIZE_LINKS
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.parse.parser_results import Parsed
from longline.engine.worker.finished_task import Finished, FinishedBatch
from longline.engine.worker.reporter import MAX_SECONDS_AT_ONCE, Reporter, ReportParts
from longline.model.errors import DiskFull, Unavailable
from longline.model.frontier.task import ClaimedTask
from longline.model.search.item import NewItem
from longline.model.states import TaskState
from longline.plugins import Item
from longline.ports.records.frontier.frontier import ClaimRequest, Reported
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import (
    OWNER,
    FakeBlobs,
    FakeFrontier,
    FakeSegments,
    Journal,
    claimed,
    part,
    records_of,
    response,
)
from tests.plans import changed, crawl_plan

PLAN = crawl_plan(("https://a.example/",), max_depth=1, hosts=("a.example", "b.example"), delay_ms=100, concurrency=2)
TTL = 30.0


class Desk:
    """A reporter, and the stores that it writes to."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.journal: Journal = []
        self.blobs, self.segments = FakeBlobs(self.journal), FakeSegments(self.journal)
        self.frontier = FakeFrontier(clock, self.journal, self.segments)
        lifecycle = Lifecycle(records_of(self.frontier))
        self.reporter = Reporter(lifecycle, SegmentWriter(part(self.blobs), part(self.segments), clock, OWNER), clock)

    async def claim(self, *numbers: int, host: str = "a.example", **facts: Any) -> LeasedHost:
        """Add a host with so many tasks, and lease it."""
        self.frontier.add(*(claimed(n, host=host) for n in numbers), host=host, **facts)
        [got] = await self.frontier.claim(ClaimRequest(OWNER, 1, 100, round(TTL * 1000)))
        return LeasedHost(got, TTL, self.clock.monotonic(), self.clock.monotonic())

    @property
    def words(self) -> list[str]:
        """Return the kinds of calls, in order."""
        return [word for word, _ in self.journal]

    @property
    def kept(self) -> list[list[str]]:
        """Return the pages of every stored segment, by their paths."""
        return [
            [
                r.rec_headers.get_header("WARC-Target-URI").rpartition("/")[2]
                for r in ArchiveIterator(io.BytesIO(data))
                if r.rec_type != "warcinfo"
            ]
            for data in self.blobs.objects.values()
        ]

    @property
    def states(self) -> list[tuple[str, int]]:
        """Return segments as rows: state and number of records."""
        return [(row.state, row.records) for row in self.segments.rows.values()]


@pytest.fixture
def desk(clock: FakeClock) -> Desk:
    return Desk(clock)


def done(host: LeasedHost, number: int, links: tuple[str, ...] = (), **changes: Any) -> Finished:
    """Return a task of the host with a fetched page."""
    task = next(t for t in host.lease.tasks if t.id == number)
    answer = response(task.url)
    fetched = Fetched("ok", START + 1, answer, answer.body, 200)
    parsed = Parsed(f"Page {number}", links)
    facts = {"fetched": fetched, "parsed": parsed, "page": keep_page(fetched, parsed.title)} | changes
    return Finished(host, task, PLAN, **facts)


def failed(host: LeasedHost, number: int, reason: str, **facts: Any) -> Finished:
    return done(host, number, fetched=Fetched(reason, START + 1, **facts), parsed=Parsed(), page=None)


def release(host: LeasedHost, *unstarted: int) -> dict[int, Any]:
    return {host.lease.host_id: (host, tuple(t for t in host.lease.tasks if t.id in unstarted))}


# -- one report -------------------------------------------------------------------------------------------------


async def test_pages_are_durable_before_they_are_reported(desk: Desk):
    host = await desk.claim(1, 2)
    [(sheaf, reported)] = await desk.reporter.deliver(FinishedBatch([done(host, 1), done(host, 2)], release(host)))
    assert desk.words == ["begin", "put", "report"]
    assert (desk.kept, desk.states) == ([["1", "2"]], [("stored", 2)])
    assert (len(sheaf.finished), reported.refused) == (2, False)
    assert desk.frontier.held == []
    [batch] = desk.frontier.reports
    outcomes = [o for r in batch.reports for o in r.outcomes]
    assert [(o.became, o.reason, o.status, o.page and o.page.title) for o in outcomes] == [
        ("completed", "ok", 200, "Page 1"),
        ("completed", "ok", 200, "Page 2"),
    ]


async def test_each_page_has_its_place_also_between_failures(desk: Desk):
    host = await desk.claim(1, 2, 3, 4)
    mixed = [failed(host, 1, "robots"), done(host, 2), failed(host, 3, "http_4xx", status=404), done(host, 4)]
    await desk.reporter.deliver(FinishedBatch(mixed))
    [batch] = desk.frontier.reports
    pages = {o.task.id: o.page for o in batch.reports[0].outcomes}
    [data] = desk.blobs.objects.values()
    assert (pages[1], pages[3]) == (None, None)
    for number in (2, 4):
        page = pages[number]
        assert page
        [record] = ArchiveIterator(io.BytesIO(data[page.start : page.start + page.length]))
        assert record.rec_headers.get_header("WARC-Target-URI") == page.url == f"https://a.example/{number}"
    assert desk.frontier.ended == {1: "robots", 2: "ok", 3: "http_4xx", 4: "ok"}


class Watched(Parsed, frozen=True):
    """A parse result that keeps the threads in which its items are made."""

    threads: list[int] = msgspec.field(default_factory=list)

    def items_of(self, task: ClaimedTask, url: str, *, in_words: bool) -> list[NewItem]:
        self.threads.append(threading.get_ident())
        return super().items_of(task, url, in_words=in_words)


@pytest.mark.parametrize("in_words", [True, False])
async def test_items_are_made_once_and_off_the_loop(desk: Desk, in_words: bool):
    host = await desk.claim(1)
    parsed = Watched(title="T", items=(Item("page", title="T", text="Some Words"),))
    finished = done(host, 1, parsed=parsed, in_words=in_words)
    await desk.reporter.deliver(FinishedBatch([finished], release(host)))
    [item] = desk.frontier.reports[0].items
    assert (item.task_id, item.title, item.body) == (1, "T", "Some Words")
    assert item.words == (("t", "some words") if in_words else None)
    assert len(parsed.threads) == 1
    assert threading.get_ident() not in parsed.threads


async def test_a_report_without_a_page_has_no_segment(desk: Desk):
    host = await desk.claim(1)
    await desk.reporter.deliver(FinishedBatch([failed(host, 1, "robots")], release(host)))
    assert desk.words == ["report"]
    assert desk.frontier.reports[0].segment is None


async def test_an_empty_batch_is_not_reported(desk: Desk):
    assert await desk.reporter.deliver(FinishedBatch()) == []
    assert desk.journal == []


async def test_links_and_redirects_are_admitted_with_their_hosts(desk: Desk):
    host = await desk.claim(1, 2)
    away = failed(host, 2, "redirected", elsewhere="https://b.example/there")
    await desk.reporter.deliver(FinishedBatch([done(host, 1, ("https://a.example/x", "https://c.example/")), away]))
    assert [(t.url, t.depth) for t in desk.frontier.admitted] == [
        ("https://a.example/x", 1),
        ("https://b.example/there", 0),
    ]
    assert {s.host for s in desk.frontier.ensured} == {"a.example", "b.example"}
    assert desk.frontier.reports[0].refused == {(1, "offsite"): 1}


class BusyClock(FakeClock):
    """A clock of a machine on which every step takes long."""

    def monotonic(self) -> float:
        self.advance(MAX_SECONDS_AT_ONCE * 1.5)
        return super().monotonic()


@pytest.mark.parametrize("kind", ["links", "beside", "refused"])
async def test_the_event_loop_runs_other_tasks_during_the_admission_of_many_links(kind: str):
    desk, turns = Desk(BusyClock()), 0
    host = await desk.claim(1)
    links = tuple(f"https://a.example/{n}" for n in range(9 * BATCH_SIZE_LINKS))
    found: dict[str, Any] = {kind: {"feed": links} if kind == "refused" else links}
    page = done(host, 1, parsed=Parsed("", **found))

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    admission = await desk.reporter._admission([page])
    working.cancel()
    assert len(admission.tasks) + admission.refused[1, "feed"] == len(links)
    assert turns >= 8


async def test_a_page_left_to_another_parser_admits_no_links(desk: Desk):
    host = await desk.claim(1)
    await desk.reporter.deliver(FinishedBatch([done(host, 1, parsed=None)]))
    [outcome] = desk.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.reason) == (TaskState.QUEUED_PARSE, "ok")
    assert outcome.page
    assert desk.frontier.admitted == []


async def test_a_parser_that_raised_fails_the_task_and_keeps_the_page(desk: Desk):
    host = await desk.claim(1)
    await desk.reporter.deliver(FinishedBatch([done(host, 1, parsed=Parsed(error="mine: ValueError()"))]))
    [outcome] = desk.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.reason, outcome.error) == ("failed", "parser_error", "mine: ValueError()")
    assert (desk.kept, desk.states) == ([["1"]], [("stored", 1)])


async def test_times_are_reported_by_the_engines_clock(clock: FakeClock):
    desk = Desk(clock)
    host = await desk.claim(1, 2, delay_ms=2000)
    start = await host.wait_for_turn(clock)
    assert start is not None
    host.answered(start, start)
    clock.advance(1)
    again = failed(host, 1, "http_5xx", status=503)
    patient = failed(host, 2, "http_429", status=429, retry_after=50.0)
    await desk.reporter.deliver(FinishedBatch([again, patient], release(host)))
    [report] = desk.frontier.reports[0].reports
    # The engine's clock may run faster than the worker's: by one part in two hundred.
    assert report.not_before - clock.now() in range(1000, 1010), "one delay after the last start"
    first, second = report.outcomes
    assert (first.became, second.became) == ("pending", "pending")
    assert first.due - clock.now() in range(1000, 1010), "the first back-off"
    assert second.due - clock.now() in range(50_000, 50_260), "the Retry-After of the host"


async def test_the_back_off_is_doubled_up_to_the_bound_of_the_plan(desk: Desk):
    plan = changed(PLAN, max_attempts=9, delay_seconds=2.0, max_delay_seconds=4.0)
    for attempt, wait in ((1, 2), (2, 4), (3, 4)):
        host = await desk.claim(attempt)
        task = msgspec.structs.replace(host.lease.tasks[0], attempt=attempt)
        again = replace(failed(host, attempt, "http_5xx", status=503), task=task, plan=plan)
        await desk.reporter.deliver(FinishedBatch([again], release(host)))
        [outcome] = desk.frontier.reports[-1].reports[0].outcomes
        assert outcome.due - desk.clock.now() in range(wait * 1000, wait * 1005 + 10)


async def test_unstarted_tasks_are_returned_without_counting_an_attempt(desk: Desk):
    host = await desk.claim(1, 2, 3)
    await desk.reporter.deliver(FinishedBatch([done(host, 1)], release(host, 2, 3)))
    line = desk.frontier.lines[1]
    assert (dict(line.attempts), list(line.tasks), line.owner) == ({1: 1, 2: 0, 3: 0}, [2, 3], None)


# -- refusals ---------------------------------------------------------------------------------------------------


async def test_a_report_refused_in_part_is_made_again_without_that_part(desk: Desk):
    mine, theirs = await desk.claim(1, 2), await desk.claim(11, 12, host="b.example")
    desk.frontier.take_away(2)
    sheaf = FinishedBatch(
        [done(theirs, 11), done(mine, 1), done(theirs, 12), done(mine, 2)], release(mine) | release(theirs)
    )
    [(told, _)] = await desk.reporter.deliver(sheaf)
    assert desk.words == ["begin", "put", "refuse", "put", "report"]
    assert [f.task.id for f in told.finished] == [1, 2]
    assert (desk.kept, desk.states) == ([["1", "2"]], [("stored", 2)]), "the archive has the pages of the rows alone"
    assert desk.frontier.ended == {1: "ok", 2: "ok"}
    assert (mine.lost, theirs.lost) == (False, True)
    pages = [o.page for o in desk.frontier.reports[0].reports[0].outcomes if o.page]
    assert pages[1].start == pages[0].start + pages[0].length


async def test_a_cancelled_task_is_removed_from_the_report_alone(desk: Desk):
    host = await desk.claim(1, 2, 3)
    del desk.frontier.lines[1].marked[2]  # cancelled by a person
    [(told, _)] = await desk.reporter.deliver(
        FinishedBatch([done(host, 1, ("https://a.example/a",)), done(host, 2, ("https://a.example/b",)), done(host, 3)])
    )
    assert [f.task.id for f in told.finished] == [1, 3]
    assert desk.kept == [["1", "3"]]
    assert [t.url for t in desk.frontier.admitted] == ["https://a.example/a"], (
        "links of the cancelled task are not admitted"
    )
    assert not host.lost


async def test_of_two_results_of_a_restarted_task_the_later_counts(desk: Desk):
    """Both were fetched before the first was reported: dropping both would cost a third request."""
    host = await desk.claim(1, 2)
    later = replace(done(host, 1), task=msgspec.structs.replace(host.lease.tasks[0], due=7))
    [(told, _)] = await desk.reporter.deliver(FinishedBatch([later, done(host, 1), done(host, 2)]))
    assert [(f.task.id, f.task.due) for f in told.finished] == [(1, 7), (2, 0)]
    assert (desk.kept, len(desk.frontier.reports)) == ([["1", "2"]], 1)


async def test_the_segment_is_deleted_if_no_page_remains(desk: Desk):
    host = await desk.claim(1, 2)
    desk.frontier.take_away(1)
    [(told, _)] = await desk.reporter.deliver(FinishedBatch([done(host, 1), done(host, 2)], release(host)))
    assert told.finished == []
    assert (desk.blobs.objects, desk.segments.rows) == ({}, {})
    assert desk.frontier.ended == {}


async def test_several_refusals_are_handled_in_turn(desk: Desk):
    host = await desk.claim(1, 2, 3)
    desk.frontier.refusals = [Reported(gone=frozenset({1})), Reported(gone=frozenset({3}))]
    await desk.reporter.deliver(FinishedBatch([done(host, n) for n in (1, 2, 3)]))
    assert (desk.kept, desk.states) == ([["2"]], [("stored", 1)])


# -- failures ---------------------------------------------------------------------------------------------------


async def test_without_a_durable_segment_no_page_is_reported(desk: Desk, clock: FakeClock):
    host = await desk.claim(1)
    desk.blobs.away = True
    with pytest.raises(Unavailable):
        await desk.reporter.report(FinishedBatch([done(host, 1)], release(host)))
    assert desk.words == ["begin"]
    assert (desk.frontier.reports, desk.frontier.held) == ([], [1])


async def waited_for(clock: FakeClock, work: Any, until: float) -> Any:
    """Return the result of work that pauses between attempts, while the clock moves on; its threads may be slow."""
    running = asyncio.create_task(work)
    async with asyncio.timeout(60):
        while not running.done():
            await asyncio.sleep(0.001)
            if clock.monotonic() < until:
                clock.advance(0.1)
    return await running


@pytest.mark.parametrize("engine", ["blobs", "frontier"])
async def test_everything_is_reported_once_after_an_outage_of_an_engine(desk: Desk, clock: FakeClock, engine: str):
    host = await desk.claim(1, 2)
    away = getattr(desk, engine)
    away.away = True
    delivery = asyncio.create_task(desk.reporter.deliver(FinishedBatch([done(host, 1), done(host, 2)], release(host))))
    for _ in range(100):
        await asyncio.sleep(0)
        clock.advance(0.1)
    assert (delivery.done(), desk.frontier.reports) == (False, [])
    assert desk.words.count("begin") < 10, "pauses separate the attempts"
    away.away = False
    await waited_for(clock, asyncio.wait_for(delivery, None), 60)
    assert desk.frontier.ended == {1: "ok", 2: "ok"}
    assert (desk.kept, desk.states) == ([["1", "2"]], [("stored", 2)]), "segments of the failed attempts are deleted"


async def test_the_segment_of_a_report_with_a_lost_response_is_kept(desk: Desk, clock: FakeClock):
    """The report was written; the repeated one is refused, and the segment of the first must stay."""
    host = await desk.claim(1, 2)
    desk.frontier.lost_answers = 1
    await waited_for(clock, desk.reporter.deliver(FinishedBatch([done(host, 1), done(host, 2)], release(host))), 60)
    assert (desk.kept, desk.states) == ([["1", "2"]], [("stored", 2)])
    assert desk.frontier.ended == {1: "ok", 2: "ok"}


async def test_a_page_that_cannot_be_written_does_not_fail_the_others(desk: Desk, caplog: pytest.LogCaptureFixture):
    host, other = await desk.claim(*range(1, 8)), await desk.claim(11, 12, host="b.example")
    desk.frontier.poison = {5}
    sheaf = FinishedBatch([done(host, n) for n in range(1, 8)] + [done(other, 11)], release(host) | release(other, 12))
    await desk.reporter.deliver(sheaf)
    assert desk.frontier.ended == {n: "internal" if n == 5 else "ok" for n in (*range(1, 8), 11)}
    assert sorted(page for pages in desk.kept for page in pages) == ["1", "11", "2", "3", "4", "6", "7"]
    assert {state for state, _ in desk.states} == {"stored"}
    assert desk.frontier.held == []
    assert "cannot be written" in caplog.text


async def test_observers_get_each_page_once_after_its_report_was_written(desk: Desk):
    seen: list[tuple[int, str]] = []

    async def observe(pages: Sequence[Finished]) -> None:
        assert {page.task.id for page in pages} <= set(desk.frontier.ended)
        seen.extend((page.task.id, page.reason) for page in pages)

    reporter: Any = desk.reporter
    observed = Reporter(reporter._lifecycle, reporter._keeper, desk.clock, ReportParts([observe]))
    host = await desk.claim(*range(1, 5))
    desk.frontier.poison = {3}
    await observed.deliver(FinishedBatch([done(host, n) for n in range(1, 5)], release(host)))
    assert sorted(seen) == [(1, "ok"), (2, "ok"), (3, "internal"), (4, "ok")]


async def test_an_error_of_every_report_is_raised(desk: Desk):
    host = await desk.claim(1)
    desk.frontier.failures = [ValueError("no")] * 2
    with pytest.raises(ValueError, match="no"):
        await desk.reporter.deliver(FinishedBatch([done(host, 1)]))
    assert desk.frontier.reports == []


async def test_a_final_reason_of_the_plan_is_not_retried(clock: FakeClock):
    page = done(await Desk(clock).claim(1), 1)
    slow = replace(page, fetched=Fetched("idle_timeout", 1), parsed=Parsed(), page=None)
    assert slow.rest == TaskState.PENDING
    final = replace(slow, plan=changed(page.plan, final=("idle_timeout",)))
    assert final.rest == TaskState.FAILED


class FullBlobs(FakeBlobs):
    """A store without room."""

    full = True

    async def put(self, key: str, data: Any, labels: Any = None) -> None:
        if self.full:
            raise DiskFull("no room")
        await super().put(key, data, labels)


async def test_a_stopping_worker_does_not_wait_for_room(clock: FakeClock):
    desk = Desk(clock)
    blobs = FullBlobs(desk.journal)
    lifecycle = Lifecycle(records_of(desk.frontier))
    reporter = Reporter(lifecycle, SegmentWriter(part(blobs), part(desk.segments), clock, OWNER), clock)
    mine = await desk.claim(1)
    reporter.leaving = True
    with pytest.raises(DiskFull):
        await reporter.deliver(FinishedBatch([done(mine, 1)], release(mine)))
    troubles = [reporter.trouble]
    blobs.full = False
    await reporter.deliver(FinishedBatch([done(mine, 1)], release(mine)))
    troubles.append(reporter.trouble)
    assert [type(trouble) for trouble in troubles] == [DiskFull, type(None)]
    assert desk.frontier.ended == {1: "ok"}, "the page is written after there is room again"
