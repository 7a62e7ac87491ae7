from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import BadInput, NotFound, StaleLease
from longline.model.frontier.task import Outcome
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, ReportBatch
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls
from longline.testing.clock import FakeClock
from tests.drivers.records.world import host_report
from tests.plans import crawl_plan, crawl_stores

PLAN = crawl_plan(("https://a.example/", "https://b.example/x"), max_depth=3, delay_ms=50, concurrency=2)
ME, YOU = 1, 2
TTL = 30_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def records(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Records]:
    opened = await open_records(f"sqlite:///{tmp_path}/longline.db", clock)
    await opened.schema.migrate()
    yield opened
    await opened.schema.close()


@pytest.fixture
def crawls(records: Records) -> Crawls:
    return Crawls(Lifecycle(records), crawl_stores(records))


async def finish(records: Records) -> None:
    """Complete all open tasks."""
    leases = await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL))
    done = [host_report(a, [Outcome(t, TaskState.COMPLETED, "ok", 1) for t in a.tasks]) for a in leases]
    assert not (await records.frontier.report(ReportBatch(reports=done))).refused


async def test_a_new_crawl_runs_and_has_its_seeds(crawls: Crawls, records: Records):
    opened = await crawls.open(CrawlRequest(PLAN, 100), ME, TTL)
    assert (opened.resumed, opened.token is None) == (False, False)
    run = opened.run
    assert (run.kind, run.state, run.seed, run.owner) == ("crawl", "running", "https://a.example/", ME)
    assert (run.admitted, run.open, run.budget) == (2, 2, 100)
    assert CrawlPlan.read(run.plan) == PLAN
    leases = {a.host: (a.delay_ms, a.concurrency) for a in await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL))}
    assert leases == {"a.example": (50, 2), "b.example": (50, 2)}


async def test_a_released_crawl_is_resumed_with_its_own_plan(crawls: Crawls):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    await crawls.release(first)
    assert (await crawls.get(first.run.id)).owner is None
    other = crawl_plan(("HTTPS://A.example",), max_depth=9)  # the same seed in another spelling
    second = await crawls.open(CrawlRequest(other, 5), YOU, TTL)
    assert (second.run.id, second.resumed, second.run.owner) == (first.run.id, True, YOU)
    assert (CrawlPlan.read(second.run.plan), second.run.budget) == (PLAN, None)
    assert second.run.admitted == 2, "seeds are admitted once"


async def test_a_crawl_under_way_is_not_taken_from_its_owner(crawls: Crawls):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    with pytest.raises(StaleLease, match="another crawl runs in this folder"):
        await crawls.open(CrawlRequest(PLAN), YOU, TTL)
    assert await crawls.renew(first, TTL)


async def test_a_crawl_that_ended_is_left_alone_without_the_option_again(crawls: Crawls, records: Records):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    await finish(records)
    second = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    assert (second.token, second.run.id, second.run.state) == (None, first.run.id, "completed")
    assert not await crawls.renew(second, TTL)
    await crawls.release(second)
    third = await crawls.open(CrawlRequest(PLAN, again=True), ME, TTL)
    assert (third.run.id == first.run.id, third.resumed, third.run.admitted) == (False, False, 2)


async def test_a_released_crawl_is_resumed_even_with_the_option_again(crawls: Crawls):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    await crawls.release(first)
    assert (await crawls.open(CrawlRequest(PLAN, again=True), ME, TTL)).run.id == first.run.id


@pytest.mark.parametrize("killed_after", ["add", "start"])
async def test_a_crawl_that_died_while_it_was_opened_is_opened_to_its_end(
    crawls: Crawls, records: Records, clock: FakeClock, killed_after: str
):
    run = await records.runs.add(NewRun("u", RunKind.CRAWL, PLAN.text(), "https://a.example/"))
    if killed_after == "start":
        lifecycle = Lifecycle(records)
        await lifecycle.move(MoveRequest("run", run.id, "start", "worker", owner=ME, lease_ms=TTL))
        clock.advance(31)
        await lifecycle.reap()
    opened = await crawls.open(CrawlRequest(PLAN), YOU, TTL)
    assert (opened.run.id, opened.run.state, opened.run.open) == (run.id, "running", 2)


async def test_a_lapsed_lease_cannot_be_renewed_or_released(crawls: Crawls, records: Records, clock: FakeClock):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    clock.advance(31)
    await Lifecycle(records).reap()
    second = await crawls.open(CrawlRequest(PLAN), YOU, TTL)
    assert not await crawls.renew(first, TTL)
    await crawls.release(first)
    assert (await crawls.get(first.run.id)).owner == YOU, "the former owner does not release the lease of another"
    assert await crawls.renew(second, TTL)


async def test_a_lapsed_run_is_claimed_again_by_its_crawl(crawls: Crawls, records: Records, clock: FakeClock):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    assert await crawls.hold(first, ME, TTL) == first
    clock.advance(31)
    late = await crawls.hold(first, ME, TTL)
    assert late.token is None, "the run is neither held nor free before the reaper has released it"
    await Lifecycle(records).reap()
    again = await crawls.hold(late, ME, TTL)
    assert again.token is not None
    assert await crawls.hold(again, ME, TTL) == again
    assert (await crawls.get(first.run.id)).owner == ME


async def test_a_run_that_another_process_holds_is_not_claimed(crawls: Crawls, records: Records, clock: FakeClock):
    first = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    clock.advance(31)
    await Lifecycle(records).reap()
    second = await crawls.open(CrawlRequest(PLAN), YOU, TTL)
    first = await crawls.hold(first, ME, TTL)
    assert first.token is None
    await crawls.release(first)
    assert (await crawls.get(first.run.id)).owner == YOU
    await crawls.release(second)
    assert (await crawls.hold(first, ME, TTL)).token is not None
    await finish(records)
    assert (await crawls.hold(first, ME, TTL)).token is None


async def test_fates_are_counted_by_reason(crawls: Crawls, records: Records):
    opened = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    await finish(records)
    assert [(f.fate, f.reason, f.count) for f in await crawls.fates(opened.run.id)] == [("completed", "ok", 2)]


async def test_a_missing_run_and_an_invalid_seed_are_errors(crawls: Crawls, records: Records):
    with pytest.raises(NotFound, match="no such run: 999"):
        await crawls.get(999)
    with pytest.raises(BadInput, match="no scheme"):
        await crawls.open(CrawlRequest(CrawlPlan(("a.example",))), ME, TTL)
    assert await records.runs.find() == [], "no run was added"
