"""Runs of the standing frontier on both engines."""

import msgspec
import pytest

from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.frontier.standing_runs import CACHE_SECONDS, StandingRules, StandingRuns, standing_plan
from longline.engine.sources.crawl_plan import as_crawled
from longline.engine.sources.source_lookup import LocalSources
from longline.model.errors import Unavailable
from longline.model.runs.crawl_bounds import bounds_of
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.sources.source import CrawlSource, NewSource, RemoteSource
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.testing.clock import FakeClock

RULES = StandingRules(delay_ms=7, attempts=2, max_redirects=1)


def standing(records: Records, clock: FakeClock, rules: StandingRules = RULES) -> StandingRuns:
    return StandingRuns(records.runs, LocalSources(records.sources), rules, clock, Registry())


async def test_each_origin_and_source_has_one_run(records: Records, clock: FakeClock) -> None:
    crawl = '{"rate_limit": "3s", "selectors": {"article": {"title": "h1"}}}'
    source = await records.sources.add(NewSource("news", "https://news.example/", crawl=crawl))
    first, second = [standing(records, clock) for _ in range(2)]

    run = await first.get(RunKind.STANDING_FEED, source.public_id)

    assert await second.get(RunKind.STANDING_FEED, source.public_id) == run
    assert (await first.get(RunKind.STANDING_MANUAL, source.public_id)).id != run.id
    stored = await records.runs.get(run.id)
    assert stored is not None
    assert (stored.source_id, CrawlPlan.read(stored.plan), stored.state) == (source.id, run.plan, "queued")
    assert (run.plan.source_name, run.plan.politeness.delay_ms) == ("news", 3000)
    assert run.plan.config["selectors"] == {"article": {"title": "h1"}}


async def test_the_plan_of_a_run_follows_its_source(records: Records, clock: FakeClock) -> None:
    source = await records.sources.add(NewSource("news", "https://news.example/"))
    asked, fetching = [standing(records, clock) for _ in range(2)]
    before = await asked.get(RunKind.STANDING_FEED, source.public_id)
    plans = PlanCache(records.runs, fetching)
    assert (await plans.get(before.id)).politeness.delay_ms == 7
    said = '{"rate_limit": "4s", "render_mode": "dynamic", "selectors": {"article": {"title": "h2"}}}'
    await records.sources.change(msgspec.structs.replace(source, name="daily", crawl=said))

    clock.advance(CACHE_SECONDS)

    after = await plans.get(before.id)
    assert (after.politeness.delay_ms, after.fetch.render, after.source_name) == (4000, True, "daily")
    assert after.config["selectors"] == {"article": {"title": "h2"}}
    assert await asked.get(RunKind.STANDING_FEED, source.public_id) == (before.id, after), (
        "the other process has the new plan too"
    )
    stored = await records.runs.get(before.id)
    assert stored is not None
    assert CrawlPlan.read(stored.plan) == after


async def test_the_plan_of_a_run_follows_the_settings_of_the_process(records: Records, clock: FakeClock) -> None:
    before = await standing(records, clock).get(RunKind.STANDING_FEED, "somebody's")
    later = standing(records, clock, msgspec.structs.replace(RULES, attempts=9))
    assert (await PlanCache(records.runs, later).get(before.id)).retries.max_attempts == 9


async def test_a_source_that_is_added_later_gets_its_earlier_run(records: Records, clock: FakeClock) -> None:
    runs = standing(records, clock)
    before = await runs.get(RunKind.STANDING_MANUAL, "theirs")
    clock.advance(CACHE_SECONDS)
    remote = RemoteSource(ref="theirs", name="news", base_url="https://news.example/")
    await records.remote_sources.take([remote], clock.now())
    source = await records.remote_sources.get("theirs")
    assert source is not None

    assert (await runs.get(RunKind.STANDING_MANUAL, "theirs")) == (
        before.id,
        standing_plan(as_crawled(source), RULES, Registry()),
    )

    stored = await records.runs.get(before.id)
    assert stored is not None
    assert stored.source_id == source.id


class Silent:
    """A directory of sources that is down."""

    async def get(self, ref: str) -> CrawlSource | None:
        raise Unavailable(f"nobody there to ask for {ref}")

    async def ref_of(self, source_id: int) -> str:
        raise Unavailable(f"nobody there to ask for {source_id}")

    async def all(self) -> list[CrawlSource]:
        raise Unavailable("nobody there to ask for all")


async def test_runs_keep_their_plans_while_sources_are_unavailable(records: Records, clock: FakeClock) -> None:
    before = await standing(records, clock).get(RunKind.STANDING_MANUAL, "s")
    alone = StandingRuns(records.runs, Silent(), msgspec.structs.replace(RULES, attempts=9), clock, Registry())

    assert await alone.get(RunKind.STANDING_MANUAL, "s") == before
    with pytest.raises(Unavailable):
        await alone.get(RunKind.STANDING_MANUAL, "another")


async def test_an_unknown_source_has_a_run_too(records: Records, clock: FakeClock) -> None:
    runs = standing(records, clock)

    plan = (await runs.get(RunKind.STANDING_MANUAL, "somebody's")).plan

    assert (plan.source_id, plan.politeness.delay_ms, plan.retries.max_attempts, plan.fetch.max_redirects) == (
        None,
        7,
        2,
        1,
    )


def test_files_and_downloads_are_never_requested() -> None:
    bounds = bounds_of(
        standing_plan(CrawlSource(ref="1", name="a", url="https://a.example/"), RULES, Registry()).bounds
    )

    for url in ("https://a.example/x.PDF", "https://a.example/a.mp3?x", "https://a.example/download.php?x=1"):
        assert bounds.forbids(url)
    for url in ("https://a.example/", "https://a.example/pdf", "https://a.example/x?y=/download.php"):
        assert not bounds.forbids(url)
