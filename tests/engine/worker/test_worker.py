import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

from longline.engine.archive.page_reader import PageReader
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetcher, FetchParts
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.frontier.claims import WorkerSettings
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.metrics import MetricCounters
from longline.engine.parse.page_parser import PageParser
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Reporter
from longline.engine.worker.worker import MAX_HEAVY_LINKS, Worker, WorkerParts
from longline.model.metrics.metric import LEASES_LOST
from longline.model.runs.crawl_plan import CrawlPlan
from longline.parsers import page
from longline.plugins import Page, parser
from longline.plugins.registry import Registry
from longline.ports.http import FetchFailed, Response
from longline.testing.clock import FakeClock
from tests.engine.fakes import (
    HOST,
    HURRY,
    OWNER,
    RUN,
    FakeBlobs,
    FakeFrontier,
    FakeHttp,
    FakeRuns,
    FakeSegments,
    FakeTasks,
    FakeWays,
    Journal,
    claimed,
    part,
    records_of,
    response,
)
from tests.plans import changed

PLAN = changed(HURRY, robots=False, max_attempts=3, hosts=(HOST,))
LEASE = 30.0


class Shop:
    """A worker among fakes. Time passes only during `until` and `pass_by`."""

    def __init__(
        self, clock: FakeClock, *parsers: Any, plan: CrawlPlan = PLAN, parse: bool = True, **settings: Any
    ) -> None:
        self.clock, self.journal = clock, Journal()
        self.blobs, self.segments = FakeBlobs(self.journal), FakeSegments(self.journal)
        self.frontier = FakeFrontier(clock, self.journal, self.segments)
        self.http, self.runs, self.tasks = FakeHttp(clock), FakeRuns({RUN: plan}), FakeTasks()
        mine = ModuleType("mine")
        vars(mine).update({f.__name__: f for f in parsers})
        lifecycle = Lifecycle(records_of(self.frontier))
        exits = ProxyRotation(FakeWays(), clock)
        sender = Sender(self.http, clock, FetchSettings("longline/1.0"), exits)
        self.metrics = MetricCounters()
        parts = WorkerParts(
            lifecycle=lifecycle,
            pipeline=Pipeline(
                plans=PlanCache(part(self.runs), part(None)),
                fetcher=Fetcher(FetchParts(sender, RobotsRules(sender, clock), clock, PolitenessKey()), 10**6),
                parser=PageParser(Registry(page, mine)) if parse else None,
                archive=PageReader(part(self.tasks), part(self.blobs)),
                clock=clock,
            ),
            reporter=Reporter(lifecycle, SegmentWriter(part(self.blobs), part(self.segments), clock, OWNER), clock),
            proxies=exits,
            clock=clock,
            owner=OWNER,
            metrics=self.metrics,
        )
        self.worker = Worker(parts, WorkerSettings(**{"idle_poll": 0.002, "lease": LEASE, "drain": 1.0} | settings))

    def gate(self, url: str) -> asyncio.Event:
        """Let a page wait until the event is set."""
        opened = asyncio.Event()

        async def answer() -> Response:
            await opened.wait()
            return response(url)

        self.http.on(url, answer)
        return opened

    @asynccontextmanager
    async def open(self) -> AsyncIterator[asyncio.Event]:
        """Run the worker; stop it at the end, and wait until it has stopped."""
        stop = asyncio.Event()
        running = asyncio.create_task(self.worker.run(stop))
        try:
            yield stop
        finally:
            stop.set()
            await asyncio.wait_for(running, 20)

    async def until(self, condition: Callable[[], object], *, step: float = 0.05) -> None:
        """Let time pass until the condition holds."""
        deadline = self.clock.monotonic() + 600
        while not condition():
            assert self.clock.monotonic() < deadline, "the condition never held"
            await self.pass_by(step, step=step)

    async def pass_by(self, seconds: float, *, step: float = 0.05) -> None:
        """Let time pass, leaving the worker a moment after every step."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end - 1e-6:
            self.clock.advance(step)
            await asyncio.sleep(0.004)

    async def stand_still(self) -> None:
        """Leave the worker many moments without letting time pass."""
        for _ in range(10):
            await asyncio.sleep(0.004)

    def fetched(self, path: str) -> int:
        return self.http.urls.count(f"https://{HOST}{path}")


@pytest.fixture
def shop(clock: FakeClock) -> Shop:
    return Shop(clock)


def url(number: int) -> str:
    return f"https://{HOST}/{number}"


# -- complete runs ----------------------------------------------------------------------------------------------


async def test_every_task_is_fetched_once_stored_and_reported_and_every_host_released(shop: Shop):
    shop.frontier.add(*(claimed(n) for n in range(1, 21)), concurrency=4)
    shop.frontier.add(*(claimed(n, host="b.example") for n in range(21, 31)), host="b.example")
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 30)
        await shop.until(lambda: not shop.frontier.held)
    assert set(shop.frontier.ended.values()) == {"ok"}
    assert len(shop.http.sent) == len(set(shop.http.urls)) == 30
    assert {row.state for row in shop.segments.rows.values()} == {"stored"}
    assert sum(row.records for row in shop.segments.rows.values()) == 30
    assert set(shop.blobs.objects) == {row.key for row in shop.segments.rows.values()}
    assert (shop.worker.progress.pages, shop.worker.progress.bytes) == (30, 30 * len(b"<title>T</title>"))


async def test_links_are_admitted_as_tasks(shop: Shop):
    shop.frontier.add(claimed(1))
    shop.http.on(url(1), response(url(1), body=b"<a href=/2>two</a><a href=https://b.example/>away</a>"))
    async with shop.open():
        await shop.until(lambda: shop.frontier.admitted)
    [task] = shop.frontier.admitted
    assert (task.url, task.depth, task.parent_id) == (url(2), 1, 1)
    assert shop.frontier.reports[0].refused == {(RUN, "offsite"): 1}


async def test_failed_tasks_are_retried_later_a_bounded_number_of_times(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2), claimed(3))
    shop.http.on(url(1), response(url(1), 503), response(url(1)))
    shop.http.on(url(2), FetchFailed("reset", "broken"))
    shop.http.on(url(3), response(url(3), 404))
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 3 and not shop.frontier.lines[1].tasks)
    assert shop.frontier.ended == {1: "ok", 2: "reset", 3: "http_4xx"}
    assert [shop.fetched(f"/{n}") for n in (1, 2, 3)] == [2, PLAN.retries.max_attempts, 1]
    times = [at for at, asked in shop.http.sent if asked == url(2)]
    assert times[1] - times[0] >= 1
    assert times[2] - times[1] >= 2
    p = shop.worker.progress
    assert (p.pages, p.retries, p.failed) == (1, 3, 2)


async def test_an_unexpected_error_fails_one_task(shop: Shop, caplog: pytest.LogCaptureFixture):
    async def burst() -> Response:
        raise ZeroDivisionError

    shop.frontier.add(claimed(1), claimed(2))
    shop.http.on(url(1), burst)
    async with shop.open():
        await shop.until(lambda: not shop.frontier.lines[1].tasks)
    assert shop.frontier.ended == {1: "internal", 2: "ok"}
    assert "unexpected error" in caplog.text


async def test_an_invalid_plan_fails_its_tasks(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2, run_id=2))
    shop.runs.texts[2] = "{}"
    async with shop.open():
        await shop.until(lambda: not shop.frontier.lines[1].tasks)
    assert shop.frontier.ended == {1: "ok", 2: "internal"}
    assert shop.fetched("/2") == 0


async def test_a_parser_that_raises_fails_the_task_and_keeps_the_page(clock: FakeClock):
    @parser("broken")
    def broken(page: Page):
        yield page.no_such_thing  # type: ignore[attr-defined]  # that is what is wrong with it

    shop = Shop(clock, broken)
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    assert shop.frontier.ended == {1: "parser_error"}
    assert (shop.fetched("/1"), len(shop.blobs.objects)) == (1, 1)


async def test_parsing_can_be_left_to_other_workers(clock: FakeClock):
    shop = Shop(clock, parse=False)
    shop.frontier.add(claimed(1), claimed(2))
    shop.http.on(url(1), response(url(1), body=b"<a href=/9>"))
    shop.http.on(url(2), response(url(2), 404))
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 2)
    states = {o.task.id: o.became for b in shop.frontier.reports for r in b.reports for o in r.outcomes}
    assert states == {1: "queued_parse", 2: "failed"}
    assert shop.frontier.admitted == []


# -- times of reports -------------------------------------------------------------------------------------------


async def test_a_page_is_reported_at_once_if_no_other_is_under_way(clock: FakeClock):
    """The links of the page may be the only further tasks: no deadline is waited for."""
    shop = Shop(clock, flush_after=1000.0)
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.stand_still()
        assert shop.frontier.ended == {1: "ok"}
        assert shop.frontier.held == []


async def test_a_page_waits_for_others_for_a_bounded_time(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2), concurrency=2)
    slow = shop.gate(url(2))
    async with shop.open():
        await shop.stand_still()
        assert shop.frontier.ended == {}, "another page is under way"
        await shop.pass_by(1.2)
        assert shop.frontier.ended == {1: "ok"}, "a second is the longest wait"
        assert shop.frontier.held == [1], "the host has another task"
        slow.set()
        await shop.until(lambda: len(shop.frontier.ended) == 2)
    assert shop.fetched("/2") == 1


async def test_a_full_batch_is_reported_at_once(clock: FakeClock):
    shop = Shop(clock, flush_pages=3, flush_after=1000.0)
    shop.frontier.add(*(claimed(n) for n in range(1, 5)), concurrency=4)
    slow = shop.gate(url(4))
    async with shop.open():
        await shop.stand_still()
        assert set(shop.frontier.ended) == {1, 2, 3}
        slow.set()


async def test_a_work_signal_makes_the_worker_claim_at_once(clock: FakeClock):
    shop = Shop(clock, idle_poll=1000.0)
    async with shop.open():
        await shop.stand_still()
        shop.frontier.add(claimed(1))
        await shop.stand_still()
        assert shop.http.sent == []
        shop.worker.wake()
        await shop.stand_still()
        assert shop.frontier.ended == {1: "ok"}


# -- politeness -------------------------------------------------------------------------------------------------


async def test_the_delay_of_a_host_is_kept_over_any_number_of_leases(clock: FakeClock):
    shop = Shop(clock, tasks_per_host=2, helpings=1)
    shop.frontier.add(*(claimed(n) for n in range(1, 6)), delay_ms=1000)
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 5)
    times = [at for at, _ in shop.http.sent]
    assert all(later - earlier >= 1 for earlier, later in pairwise(times))
    assert shop.frontier.lines[1].token >= 5, "the host has had several leases"


async def test_a_leased_host_gets_more_tasks_while_no_other_has_any(clock: FakeClock):
    shop = Shop(clock, tasks_per_host=2, helpings=3)
    shop.frontier.add(*(claimed(n) for n in range(1, 13)))
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 12)
    assert sorted(shop.http.urls) == sorted(url(n) for n in range(1, 13)), "each once"
    tasks_of = Counter({r.token: len(r.outcomes) for b in shop.frontier.reports for r in b.reports if r.outcomes})
    assert list(tasks_of.values()) == [6, 6], "two leases of three helpings"


async def test_a_worker_with_enough_hosts_shares_them_with_one_without(clock: FakeClock):
    shop = Shop(clock, concurrency=2, tasks_per_host=8)
    for number, host in enumerate(("a.example", "b.example", "c.example")):
        shop.frontier.add(*(claimed(8 * number + n, host=host) for n in range(1, 9)), host=host, concurrency=2)
    gates = [shop.gate(f"https://{host}/{number}") for host, number in (("a.example", 1), ("b.example", 9))]
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.held) == 3 and len(shop.http.sent) >= 2)
        shop.worker.share()
        for gate in gates:
            gate.set()
        await shop.until(lambda: len(shop.frontier.ended) == 24)
    given = [r.host_id for b in shop.frontier.reports for r in b.reports if r.release and r.unstarted]
    assert len(given) == 1, "every second host, with its unstarted tasks"
    assert len(shop.http.urls) == len(set(shop.http.urls)), "no page is fetched twice"


async def test_a_host_stays_leased_during_a_claim_of_further_tasks(clock: FakeClock):
    shop = Shop(clock)
    shop.frontier.add(claimed(1))
    opened = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.fetched("/1") == 1)
        shop.frontier.gate = asyncio.Event()  # the response to the next claim is on its way for a long time
        await shop.pass_by(1)
        shop.frontier.lines[1].tasks[2] = claimed(2)
        opened.set()
        await shop.pass_by(3)
        assert shop.frontier.held == [1]
        shop.frontier.gate.set()
        await shop.until(lambda: len(shop.frontier.ended) == 2)
        assert {r.token for b in shop.frontier.reports for r in b.reports} == {1}


async def test_slow_leased_hosts_do_not_prevent_claims_of_others(clock: FakeClock):
    shop = Shop(clock, concurrency=4)
    for number in range(3):
        name = f"slow{number}.example"
        shop.frontier.add(*(claimed(100 * number + n, host=name) for n in range(50)), host=name, delay_ms=20_000)
    async with shop.open():
        await shop.until(lambda: len(shop.http.sent) == 3)
        shop.frontier.add(claimed(999))
        await shop.pass_by(2)
        assert shop.fetched("/999") == 1


@pytest.mark.parametrize("concurrency", [1, 50])
async def test_a_host_that_does_not_respond_delays_no_other(clock: FakeClock, concurrency: int):
    shop = Shop(clock, concurrency=4)
    silent = [claimed(100 + n, host="silent.example") for n in range(50)]
    shop.frontier.add(*silent, host="silent.example", concurrency=concurrency)
    gates = [shop.gate(task.url) for task in silent]
    for number in range(3):
        name = f"quick{number}.example"
        shop.frontier.add(*(claimed(1000 * number + n, host=name) for n in range(1000, 1020)), host=name)
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 60)
        # The pages of the others are reported, and their hosts released.
        await shop.until(lambda: set(shop.frontier.held) == {1})
        for gate in gates:
            gate.set()
        await shop.until(lambda: len(shop.frontier.ended) == 110)


async def test_hosts_get_equal_shares_with_any_number_of_tasks(clock: FakeClock):
    shop = Shop(clock, concurrency=3, tasks_per_host=8)
    sizes = {"large.example": 400, "middle.example": 60, "small.example": 24}
    for number, (name, amount) in enumerate(sizes.items(), 1):
        shop.frontier.add(*(claimed(1000 * number + n, host=name) for n in range(amount)), host=name, delay_ms=1000)

    def asked(name: str) -> int:
        return sum(urlsplit(url).hostname == name for _, url in shop.http.sent)

    async with shop.open():
        await shop.until(lambda: asked("small.example") == 20)
        assert all(abs(asked(name) - 20) <= 1 for name in sizes)


async def test_a_host_with_a_long_retry_after_is_released_until_then(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2))
    shop.http.on(url(1), response(url(1), 429, b"", (("Retry-After", "300"),)), response(url(1)))
    async with shop.open():
        await shop.until(lambda: shop.frontier.reports)
        line = shop.frontier.lines[1]
        assert line.owner is None, "a host that cannot be requested is not held"
        assert line.not_before - shop.clock.now() in range(299_000, 301_600)
        assert line.claims[2] == 0, "an unstarted task has no claim"
        await shop.pass_by(290, step=1)
        assert len(shop.http.sent) == 1
        await shop.until(lambda: not line.tasks, step=1)
    assert shop.frontier.ended == {1: "ok", 2: "ok"}
    assert all(at >= 300 for at, _ in shop.http.sent[1:])


# -- leases -----------------------------------------------------------------------------------------------------


async def test_a_lease_is_renewed_during_a_slow_request(shop: Shop):
    shop.frontier.add(claimed(1))
    slow = shop.gate(url(1))
    async with shop.open():
        await shop.pass_by(5 * LEASE, step=0.5)
        assert shop.frontier.held == [1]
        slow.set()
        await shop.until(lambda: shop.frontier.ended)
    assert shop.fetched("/1") == 1
    assert shop.frontier.lines[1].attempts[1] == 1


async def test_results_of_a_lost_host_are_dropped(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2), claimed(3), concurrency=2)
    slow = shop.gate(url(2))
    async with shop.open():
        await shop.until(lambda: shop.fetched("/2"))
        shop.frontier.take_away(1)
        shop.frontier.lines[1].owner = 99
        await shop.pass_by(LEASE / 2, step=0.5)  # the heartbeat detects the loss
        before = len(shop.http.sent)
        slow.set()
        await shop.pass_by(3)
        assert len(shop.http.sent) == before, "no request is sent to a host of another owner"
    assert shop.frontier.lines[1].owner == 99
    assert set(shop.frontier.ended) <= {1, 3}, "a page that ended after the loss is not reported"
    assert 2 not in shop.frontier.ended


async def test_results_of_a_lost_host_are_not_written_to_the_archive(shop: Shop):
    shop.frontier.add(claimed(1))
    slow = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        shop.frontier.take_away(1)
        shop.frontier.lines[1].owner = 99
        await shop.pass_by(LEASE / 2, step=0.5)
        slow.set()
        await shop.pass_by(3)
    assert shop.journal == []
    assert shop.metrics.count_of(LEASES_LOST) == 1


async def test_a_lost_host_that_is_claimed_again_is_started_anew(shop: Shop):
    """The result under the old lease must not be taken for one of the new lease."""
    shop.frontier.add(claimed(1))
    slow = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.fetched("/1") == 1)
        shop.frontier.take_away(1)  # The host is free at once: it is claimed again before any heartbeat.
        await shop.until(lambda: shop.fetched("/1") == 2)
        slow.set()
        await shop.until(lambda: shop.frontier.ended)
        await shop.until(lambda: not shop.frontier.held)
    assert shop.frontier.ended == {1: "ok"}
    assert sum(row.records for row in shop.segments.rows.values()) == 1
    assert set(shop.blobs.objects) == {row.key for row in shop.segments.rows.values() if row.state == "stored"}


async def test_heartbeats_continue_after_unexpected_errors(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    shop.frontier.add(claimed(1))
    slow = shop.gate(url(1))
    renew, broken = shop.frontier.renew, [ZeroDivisionError(), KeyError()]

    async def sometimes(*given: Any) -> set[int]:
        if broken:
            raise broken.pop()
        return await renew(*given)

    monkeypatch.setattr(shop.frontier, "renew", sometimes)
    async with shop.open():
        await shop.pass_by(3 * LEASE, step=0.5)
        slow.set()
        await shop.until(lambda: shop.frontier.ended)
    assert (broken, shop.frontier.ended) == ([], {1: "ok"})
    assert shop.frontier.renewals


# -- unavailable engines ----------------------------------------------------------------------------------------


async def test_an_outage_of_the_database_loses_nothing(shop: Shop):
    shop.frontier.add(*(claimed(n) for n in range(1, 11)), delay_ms=200)
    async with shop.open():
        await shop.until(lambda: len(shop.http.sent) >= 3)
        shop.frontier.away = shop.runs.away = True
        await shop.pass_by(LEASE / 2, step=0.5)
        shop.frontier.away = shop.runs.away = False
        await shop.until(lambda: len(shop.frontier.ended) == 10)
    assert set(shop.frontier.ended.values()) == {"ok"}
    assert len(shop.http.sent) == 10, "no page was fetched again"


async def test_a_task_that_cannot_begin_counts_no_attempt(shop: Shop):
    shop.frontier.add(claimed(1))
    shop.runs.away = True
    async with shop.open():
        await shop.pass_by(5, step=0.2)
        assert shop.runs.asked < 100, "pauses separate the reads"
        shop.runs.away = False
        await shop.until(lambda: shop.frontier.ended)
    assert shop.frontier.lines[1].attempts[1] == 1


async def test_hosts_with_a_report_under_way_stay_leased(shop: Shop):
    """An outage of the store that is longer than a lease must not cost the waiting pages."""
    shop.frontier.add(claimed(1), claimed(2))
    shop.blobs.away = True
    async with shop.open():
        await shop.pass_by(4 * LEASE, step=0.5)
        assert shop.frontier.held == [1]
        shop.blobs.away = False
        await shop.until(lambda: len(shop.frontier.ended) == 2)
    assert len(shop.http.sent) == 2
    assert {row.state for row in shop.segments.rows.values()} == {"stored"}
    assert len(shop.blobs.objects) == 1, "objects of the failed attempts are deleted"


async def test_memory_is_bounded_during_an_outage_of_reports(clock: FakeClock):
    shop = Shop(clock, concurrency=2, tasks_per_host=100, flush_pages=4)
    for number in range(20):
        name = f"h{number}.example"
        shop.frontier.add(*(claimed(1000 * number + n, host=name) for n in range(500)), host=name, concurrency=2)
    shop.blobs.away = True
    async with shop.open():
        await shop.pass_by(10, step=0.2)
        assert shop.frontier.most_leased == 4 * 100, "claims stop at the bound of claimed tasks"
        stuck = len(shop.http.sent)
        assert stuck <= 10 * 2 + 4, "fetches stop at the bound of waiting pages"
        await shop.pass_by(5, step=0.2)
        assert len(shop.http.sent) == stuck


async def test_a_worker_does_not_poll_busily_during_an_outage(clock: FakeClock, monkeypatch: pytest.MonkeyPatch):
    shop = Shop(clock, idle_poll=0.05)
    shop.frontier.add(claimed(1), claimed(2), concurrency=2)
    slow = shop.gate(url(2))
    rests, rest = [0], shop.worker._sleep

    async def counted() -> None:
        rests[0] += 1
        await rest()

    monkeypatch.setattr(shop.worker, "_sleep", counted)
    shop.blobs.away = True
    async with shop.open():
        await shop.pass_by(3, step=0.2)
        slow.set()  # a second page waits for the report that cannot be written
        await shop.pass_by(3, step=0.2)
        rests[0] = 0
        await asyncio.sleep(0.5)
        assert rests[0] < 50  # ten polls, not hundreds


# -- stops ------------------------------------------------------------------------------------------------------


async def test_a_stop_ends_the_requests_under_way_and_returns_the_other_tasks(clock: FakeClock):
    shop = Shop(clock, drain=5.0)
    shop.frontier.add(*(claimed(n) for n in range(1, 10)), concurrency=2)
    gates = [shop.gate(url(n)) for n in (1, 2)]
    async with shop.open() as stop:
        await shop.until(lambda: len(shop.http.sent) == 2)
        stop.set()
        await shop.stand_still()
        assert shop.frontier.held == [1], "the host stays leased during the last requests"
        for gate in gates:
            gate.set()
    assert shop.frontier.ended == {1: "ok", 2: "ok"}
    assert len(shop.http.sent) == 2, "no further request was sent"
    line = shop.frontier.lines[1]
    assert (line.owner, shop.frontier.leased) == (None, 0)
    assert {n: line.claims[n] for n in range(3, 10)} == dict.fromkeys(range(3, 10), 0)


async def test_requests_beyond_the_drain_time_are_dropped_and_counted_as_claimed(shop: Shop):
    shop.frontier.add(claimed(1), claimed(2))
    shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
    line = shop.frontier.lines[1]
    assert (line.owner, shop.frontier.ended) == (None, {})
    assert (line.claims[1], line.claims[2]) == (1, 0)
    assert line.attempts[1] == 0, "an attempt is counted when it is reported"


async def test_waiting_results_are_reported_before_the_end(clock: FakeClock):
    shop = Shop(clock, flush_after=1000.0)
    shop.frontier.add(claimed(1), claimed(2), concurrency=2)
    shop.gate(url(2))
    async with shop.open():
        await shop.stand_still()
        assert shop.frontier.ended == {}
    assert shop.frontier.ended == {1: "ok"}


async def test_a_stop_during_a_claim_starts_no_task(shop: Shop):
    shop.frontier.add(claimed(1))
    shop.frontier.gate = asyncio.Event()
    async with shop.open() as stop:
        await asyncio.sleep(0.01)
        stop.set()
        await asyncio.sleep(0.01)
        shop.frontier.gate.set()
    assert shop.http.sent == []
    assert (shop.frontier.held, shop.frontier.lines[1].claims[1]) == ([], 0)


async def test_the_worker_stops_in_time_also_during_an_outage_of_reports(shop: Shop, caplog: pytest.LogCaptureFixture):
    shop.frontier.add(claimed(1))
    shop.blobs.away = True
    before = asyncio.all_tasks()
    async with shop.open():
        await shop.pass_by(5)
    assert asyncio.all_tasks() == before, "no task of the worker is left"
    assert "report not finished" in caplog.text
    assert shop.frontier.reports == []


async def test_a_worker_can_be_started_again(shop: Shop):
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    shop.frontier.add(claimed(2))
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 2)
    assert not shop.frontier.held


@pytest.mark.slow(reason="very many links")
async def test_pages_of_very_many_links_are_reported_in_turn(shop: Shop):
    hosts = [f"h{n}.example" for n in range(6)]
    many = b"".join(b"<a href=/found/%d>" % n for n in range(9_000))
    for number, host in enumerate(hosts):
        tasks = [claimed(10 * number + n, host=host) for n in (1, 2)]
        shop.frontier.add(*tasks, host=host, concurrency=2)
        for task in tasks:
            shop.http.on(task.url, response(task.url, body=many))
    shop.frontier.add(*(claimed(n) for n in range(100, 110)), concurrency=4)
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 22)
        await shop.until(lambda: not shop.frontier.held)
    heavy = [sum(o.task.id < 100 for r in batch.reports for o in r.outcomes) for batch in shop.frontier.reports]
    assert sum(heavy) == 12
    assert max(heavy) * 9_000 <= MAX_HEAVY_LINKS
    assert sum(batch.refused.get((RUN, "offsite"), 0) for batch in shop.frontier.reports) == 12 * 9_000


async def test_no_further_task_of_a_host_starts_while_a_page_of_very_many_links_waits(clock: FakeClock):
    shop = Shop(clock, flush_pages=1000, flush_after=5.0)
    task = claimed(1)
    shop.frontier.add(task, *(claimed(n) for n in range(2, 6)))
    shop.frontier.add(*(claimed(n, host="b.example") for n in range(11, 40)), host="b.example", delay_ms=200)
    shop.http.on(task.url, response(task.url, body=b"".join(b"<a href=/found/%d>" % n for n in range(2_000))))
    async with shop.open():
        await shop.until(lambda: len(shop.frontier.ended) == 34)
    first = [o.task.id for report in shop.frontier.reports[0].reports for o in report.outcomes]
    assert [number for number in first if number < 10] == [1]


async def test_links_beyond_the_bound_are_counted(clock: FakeClock):
    shop = Shop(clock)
    task = claimed(1)
    shop.frontier.add(task)
    shop.http.on(task.url, response(task.url, body=b"".join(b"<a href=/%d>" % n for n in range(10_003))))
    async with shop.open():
        await shop.until(lambda: 1 in shop.frontier.ended)
    refused = sum((Counter(batch.refused) for batch in shop.frontier.reports), Counter())
    assert refused == {(RUN, "too_many_links"): 3}
    assert len(shop.frontier.admitted) == 10_000
