import asyncio
import gzip
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import msgspec
import pytest

from longline.engine.archive.page_records import keep_page
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.parse_worker import ParseWorker, ParseWorkerParts
from longline.model.archive.page import PageRow
from longline.model.errors import Unavailable
from longline.model.frontier.task import PARSE, Outcome, PageFacts
from longline.model.runs.crawl_plan import CrawlPlan
from longline.parsers import page as built_in
from longline.plugins import Item, Page, parser
from longline.plugins.registry import Registry
from longline.ports.records.frontier.frontier import ReportBatch, Reported, TaskLease
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import (
    HTML,
    OWNER,
    RUN,
    FakeBlobs,
    FakeFrontier,
    FakeRuns,
    FakeSegments,
    Journal,
    claimed,
    page_row,
    part,
    records_of,
    response,
)
from tests.plans import crawl_plan

PLAN = crawl_plan(("https://a.example/",), max_depth=1, hosts=("a.example",))


class FakeHands:
    """Offers by id, each with its token; `gone` ones have lost their owner when they are given.

    Pages in `spoilt` cannot be written.
    """

    def __init__(self) -> None:
        self.offers: dict[int, Any] = {}
        self.taken: dict[int, int] = {}
        self.given: list[tuple[list[Outcome], ReportBatch]] = []
        self.renewals: list[list[tuple[int, int]]] = []
        self.gone: frozenset[int] = frozenset()
        self.spoilt: frozenset[int] = frozenset()
        self.away = self.closed = False
        self.attempt_before = 1
        self.gave = asyncio.Event()

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        assert (executor, owner, ttl_ms) == (PARSE, OWNER, 30_000)
        if self.away:
            raise Unavailable("no database")
        waiting = [n for n in self.offers if n not in self.taken][:limit]
        self.taken |= {n: 10 + n for n in waiting}
        return [TaskLease(self.offers[n], 10 + n, START + 30_000, self.attempt_before) for n in waiting]

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        assert (owner, ttl_ms) == (OWNER, 30_000)
        self.renewals.append(list(held))
        return {n for n, _ in held}

    async def give(self, outcomes: Sequence[tuple[int, Outcome]], batch: ReportBatch) -> Reported:
        assert all(self.taken[o.task.id] == token for token, o in outcomes)
        if self.closed:
            raise Unavailable("no database")
        if any(o.task.id in self.spoilt and o.reason != "internal" for _, o in outcomes):
            raise ValueError("a value that cannot be stored")
        if gone := self.gone & {o.task.id for _, o in outcomes}:
            return Reported(gone=gone)
        for _, outcome in outcomes:
            del self.offers[outcome.task.id]
        self.given.append(([o for _, o in outcomes], batch))
        self.gave.set()
        return Reported()


class Desk:
    """A parsing worker, and the archive it reads."""

    def __init__(self, clock: FakeClock, *parsers: Any, plan: CrawlPlan = PLAN) -> None:
        journal: Journal = []
        self.clock, self.blobs, self.hands = clock, FakeBlobs(journal), FakeHands()
        self.pages: dict[int, tuple[str, PageFacts]] = {}
        self.frontier = FakeFrontier(clock, journal, FakeSegments(journal))
        self.keeper = SegmentWriter(part(self.blobs), part(FakeSegments(journal)), clock, OWNER)
        mine = ModuleType("mine")
        vars(mine).update({f.__name__: f for f in parsers})
        self.worker = ParseWorker(
            ParseWorkerParts(
                lifecycle=Lifecycle(records_of(self.frontier, hands=self.hands)),
                pages=part(self),
                plans=PlanCache(part(FakeRuns({RUN: plan})), part(None)),
                blobs=part(self.blobs),
                parser=PageParser(Registry(built_in, mine)),
                clock=clock,
                owner=OWNER,
                batch=4,
                at_once=2,
                idle_poll=0.01,
            )
        )

    async def get(self, task_id: int) -> PageRow | None:
        """Return the row of a page, as the port of pages does."""
        return page_row(task_id, *self.pages[task_id]) if task_id in self.pages else None

    async def archive(self, number: int, body: bytes | None = None, *, depth: int = 0, **answered: Any) -> None:
        """Store a page that was fetched earlier and waits for a parser."""
        task = claimed(number, depth=depth)
        body = body if body is not None else b"<title>Page %d</title><a href=/next/%d>" % (number, number)
        answer = response(task.url, body=body, **answered)
        kept = keep_page(Fetched("ok", START, answer, b"", 200), "")
        assert kept
        stored = await self.keeper.write([kept])
        self.pages[number] = (stored.key, stored.facts[0])
        self.hands.offers[number] = task

    @property
    def ended(self) -> dict[int, tuple[str, str]]:
        """Return the rest and the reason of every given task."""
        return {o.task.id: (o.became, o.reason) for outcomes, _ in self.hands.given for o in outcomes}


@pytest.fixture
def desk(clock: FakeClock) -> Desk:
    return Desk(clock)


async def test_a_page_is_parsed_from_the_archive(desk: Desk):
    await desk.archive(1)
    assert await desk.worker.once()
    [([outcome], batch)] = desk.hands.given
    assert (outcome.became, outcome.reason, outcome.status) == ("completed", "ok", 200)
    assert outcome.page
    assert (outcome.page.title, outcome.page.url) == ("Page 1", "https://a.example/1")
    [task] = batch.admit
    assert (task.url, task.depth, task.parent_id) == ("https://a.example/next/1", 1, 1)
    assert [s.host for s in desk.frontier.ensured] == ["a.example"]


@parser("unlucky", match="https://a.example/*")
async def unlucky(page: Page):
    yield Item("note", title=str(1 / 0))


@pytest.mark.parametrize(
    ("retry", "fetches", "parses", "became", "attempts"),
    [
        ("never", 1, 1, "failed", None),
        ("recrawl", 2, 1, "pending", 2),
        ("recrawl", 3, 1, "failed", None),
        ("reparse", 1, 2, "downloaded", 2),
        ("reparse", 1, 3, "failed", None),
    ],
)
async def test_a_failed_parser_is_retried_by_the_rule_of_the_plan(
    clock: FakeClock, retry: str, fetches: int, parses: int, became: str, attempts: int | None
):
    desk = Desk(clock, unlucky, plan=crawl_plan((), max_attempts=3, parser=retry))
    await desk.archive(1)
    desk.hands.offers[1] = msgspec.structs.replace(desk.hands.offers[1], attempt=parses)
    desk.hands.attempt_before = fetches
    await desk.worker.once()
    [([outcome], _)] = desk.hands.given
    assert (outcome.became, outcome.reason, outcome.attempts) == (became, "parser_error", attempts)
    assert "division by zero" in (outcome.error or "")
    assert outcome.task.attempt == (attempts or parses)
    assert (outcome.due > 0) == (became != "failed")


async def test_a_look_without_a_page_returns_false(desk: Desk):
    assert not await desk.worker.once()
    assert desk.hands.given == []


async def test_a_compressed_page_is_decoded(desk: Desk):
    encoded = gzip.compress(b"<title>Small</title>")
    await desk.archive(1, encoded, headers=(*HTML, ("Content-Encoding", "gzip")))
    await desk.worker.once()
    [([outcome], _)] = desk.hands.given
    assert outcome.page
    assert outcome.page.title == "Small"


async def test_links_are_bounded_by_the_plan(desk: Desk):
    await desk.archive(1, b"<a href=/deeper>", depth=1)
    await desk.archive(2, b"<a href=https://b.example/>")
    await desk.worker.once()
    [(_, batch)] = desk.hands.given
    assert batch.admit == []
    assert batch.refused == {(RUN, "depth"): 1, (RUN, "offsite"): 1}


async def test_a_parser_that_raises_fails_its_page_alone(clock: FakeClock):
    @parser("broken", match="*/2")
    def broken(page: Page):
        yield page.no_such_thing  # type: ignore[attr-defined]  # that is what is wrong with it

    desk = Desk(clock, broken)
    for number in (1, 2, 3):
        await desk.archive(number)
    await desk.worker.once()
    assert desk.ended == {1: ("completed", "ok"), 2: ("failed", "parser_error"), 3: ("completed", "ok")}
    [(outcomes, batch)] = desk.hands.given
    assert "AttributeError" in str(outcomes[1].error)
    assert [t.url for t in batch.admit] == ["https://a.example/next/1", "https://a.example/next/3"]


async def test_a_page_that_is_missing_in_the_archive_is_lost(desk: Desk):
    for number in (1, 2, 3, 4):
        await desk.archive(number)
    del desk.pages[1]
    desk.blobs.objects[desk.pages[2][0]] = b"\x1f\x8b" + b"spoilt" * 500
    del desk.blobs.objects[desk.pages[3][0]]
    await desk.worker.once()
    assert desk.ended == {n: ("failed", "page_lost") for n in (1, 2, 3)} | {4: ("completed", "ok")}


async def test_an_unexpected_error_of_a_page_does_not_affect_others(desk: Desk):
    for number in (1, 2):
        await desk.archive(number)
    key, facts = desk.pages[1]
    desk.pages[1] = (key, msgspec.structs.replace(facts, start="?"))  # an error of the platform
    await desk.worker.once()
    assert desk.ended == {1: ("downloaded", "internal"), 2: ("completed", "ok")}
    [([again, _], _)] = desk.hands.given
    assert again.due > desk.clock.now()


async def test_after_the_last_attempt_an_unexpected_error_fails_the_page(desk: Desk):
    await desk.archive(1)
    desk.pages[1] = (desk.pages[1][0], msgspec.structs.replace(desk.pages[1][1], start="?"))  # an error of the platform
    desk.hands.offers[1] = msgspec.structs.replace(desk.hands.offers[1], attempt=PLAN.retries.max_attempts)
    await desk.worker.once()
    assert desk.ended == {1: ("failed", "internal")}


async def test_a_page_that_cannot_be_stored_does_not_affect_others(desk: Desk):
    for number in range(1, 5):
        await desk.archive(number)
    desk.hands.spoilt = frozenset({3})
    await desk.worker.once()
    assert desk.ended == {n: ("downloaded", "internal") if n == 3 else ("completed", "ok") for n in range(1, 5)}
    errors = {o.task.id: o.error for outcomes, _ in desk.hands.given for o in outcomes}
    assert errors == {1: None, 2: None, 3: "the parsed page could not be stored", 4: None}


async def test_a_failure_of_the_engine_fails_no_page(desk: Desk):
    await desk.archive(1)
    desk.hands.closed = True
    with pytest.raises(Unavailable):
        await desk.worker.once()
    assert desk.ended == {}


async def test_a_task_that_lost_its_owner_is_left_out(desk: Desk):
    for number in (1, 2, 3):
        await desk.archive(number)
    desk.hands.gone = frozenset({2})
    await desk.worker.once()
    assert set(desk.ended) == {1, 3}
    [(_, batch)] = desk.hands.given
    assert [t.url for t in batch.admit] == ["https://a.example/next/1", "https://a.example/next/3"]


async def test_leases_of_long_batches_are_renewed(clock: FakeClock):
    @parser("slow")
    async def slow(page: Page):
        clock.advance(12)
        yield Item("page")

    desk = Desk(clock, slow)
    for number in (1, 2, 3, 4):
        await desk.archive(number)
    await desk.worker.once()
    assert len(desk.hands.renewals) == 4, "every 12 seconds of a lease of 30"
    assert desk.hands.renewals[0] == [(n, 10 + n) for n in (1, 2, 3, 4)]
    assert len(desk.ended) == 4


async def test_the_number_of_pages_parsed_at_once_is_bounded(clock: FakeClock):
    under_way: set[str] = set()
    seen: list[int] = []

    @parser("waiting")
    async def waiting(page: Page):
        under_way.add(page.url)
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append(len(under_way))
        under_way.discard(page.url)
        yield Item("page")

    desk = Desk(clock, waiting)
    for number in (1, 2, 3, 4):
        await desk.archive(number)
    await desk.worker.once()
    assert max(seen) == 2
    assert len(desk.ended) == 4


async def test_a_batch_is_bounded(desk: Desk):
    for number in range(1, 7):
        await desk.archive(number)
    assert await desk.worker.once()
    assert len(desk.ended) == 4
    assert await desk.worker.once()
    assert len(desk.ended) == 6
    assert not await desk.worker.once()


async def test_the_worker_runs_until_the_stop_and_survives_failed_engines(desk: Desk):
    stop = asyncio.Event()
    desk.hands.away = True
    running = asyncio.create_task(desk.worker.run(stop))
    await asyncio.sleep(0.03)
    assert not running.done()
    desk.hands.away = False
    await desk.archive(1)
    async with asyncio.timeout(60):
        await desk.hands.gave.wait()
        stop.set()
        await running
    assert desk.ended == {1: ("completed", "ok")}


async def test_a_batch_under_way_is_finished_after_a_stop(clock: FakeClock):
    stop = asyncio.Event()

    @parser("stopping")
    async def stopping(page: Page):
        stop.set()
        await asyncio.sleep(0)
        yield Item("page")

    desk = Desk(clock, stopping)
    for number in range(1, 7):
        await desk.archive(number)
    await asyncio.wait_for(desk.worker.run(stop), 60)
    assert len(desk.ended) == 4


async def test_a_failed_archive_fails_no_page(desk: Desk):
    await desk.archive(1)
    desk.blobs.away = True
    with pytest.raises(Unavailable):
        await desk.worker.once()
    assert desk.ended == {}
