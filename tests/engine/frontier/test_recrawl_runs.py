"""Runs of recrawls: one for each source; its plan follows the source."""

import asyncio

import msgspec
import pytest

from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.frontier.recrawl_runs import RecrawlRuns, image_plan, recrawl_plan
from longline.engine.frontier.standing_runs import CACHE_SECONDS
from longline.engine.lifecycle.creation import ensure_run
from longline.model.back_off import back_off
from longline.model.errors import NotFound
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.recrawl_settings import RecrawlSettings
from longline.model.sources.source import NewSource
from longline.model.sources.source_uses import SourceUse
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.testing.clock import FakeClock


def runs_of(records: Records, clock: FakeClock) -> RecrawlRuns:
    return RecrawlRuns(records.runs, records.sources, clock, Registry())


async def test_a_source_has_one_run_with_a_plan_that_follows_the_source(records: Records, clock: FakeClock):
    settings = RecrawlSettings(strategy="geo", direct=True, parser_retry="reparse")
    new = NewSource(
        "shop.example",
        "https://shop.example/",
        use=SourceUse.PRODUCTS,
        delay_ms=2000,
        concurrency=3,
        user_agent="Shopper/1.0",
        recrawl=settings.text(),
    )
    source = await records.sources.add(new)
    first, second = runs_of(records, clock), runs_of(records, clock)
    run = await first.of(source.id)
    assert await second.of(source.id) == run
    plan = run.plan
    assert (plan.politeness.delay_ms, plan.politeness.concurrency, plan.fetch.user_agents) == (
        2000,
        3,
        ("Shopper/1.0",),
    )
    assert (plan.single, plan.retries.insistent, plan.retries.parser) == (True, True, "reparse")
    assert (plan.politeness.lenient_robots, plan.fetch.proxying.strategy, plan.fetch.proxying.direct) == (
        False,
        "geo",
        True,
    )
    stored = await records.runs.get(run.id)
    assert stored is not None
    assert (stored.kind, stored.standing, stored.source_id, stored.state) == (
        RunKind.PRODUCTS,
        True,
        source.id,
        "queued",
    )
    plans = PlanCache(records.runs, recrawls=first)
    await records.sources.change(msgspec.structs.replace(source, delay_ms=5000))
    clock.advance(CACHE_SECONDS)
    assert (await plans.get(run.id)).politeness.delay_ms == 5000
    second.forget(source.id)
    assert (await second.of(source.id)).plan.politeness.delay_ms == 5000


async def test_an_unknown_source_has_no_run(records: Records, clock: FakeClock):
    with pytest.raises(NotFound):
        await runs_of(records, clock).of(5)


async def test_retries_wait_one_two_four_minutes_and_the_tenth_is_not_cut(records: Records):
    source = await records.sources.add(NewSource("shop.example", "https://shop.example/"))
    retries = recrawl_plan(source, Registry()).retries
    waits = [back_off(retries.delay_seconds, n, retries.max_delay_seconds) / 60 for n in range(10)]
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


async def test_runs_of_images_follow_their_source(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("shop.example", "https://shop.example/", use=SourceUse.PRODUCTS))
    runs = runs_of(records, clock)
    plan = image_plan((await runs.of(source.id)).plan)
    made = NewRun(new_id(), RunKind.IMAGES, plan.text(), str(source.id), source_id=source.id)
    row = await ensure_run(records.runs, made, "scheduler")
    plans = PlanCache(records.runs, recrawls=runs)
    assert await plans.get(row.id) == plan
    settings = RecrawlSettings(country="DE")
    await records.sources.change(msgspec.structs.replace(source, user_agent="New/2", recrawl=settings.text()))
    clock.advance(CACHE_SECONDS)
    changed = await plans.get(row.id)
    assert (changed.fetch.user_agents, changed.fetch.proxying.country) == (("New/2",), "DE")
    assert changed.downloads == plan.downloads


async def test_a_plan_read_before_a_change_is_not_cached(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("shop.example", "https://shop.example/", use=SourceUse.PRODUCTS))
    runs = runs_of(records, clock)
    reading = asyncio.create_task(runs.of(source.id))
    await asyncio.sleep(0)  # the source is being read
    await records.sources.change(msgspec.structs.replace(source, user_agent="New/2"))
    runs.forget(source.id)
    await reading
    assert (await runs.of(source.id)).plan.fetch.user_agents == ("New/2",)


@pytest.mark.parametrize("kind", [RunKind.PRODUCTS, RunKind.IMAGES])
async def test_runs_of_a_deleted_source_keep_their_last_plan(records: Records, clock: FakeClock, kind: RunKind):
    source = await records.sources.add(NewSource("shop.example", "https://shop.example/", user_agent="Shopper/1.0"))
    runs = runs_of(records, clock)
    pages = await runs.of(source.id)
    plan = pages.plan if kind is RunKind.PRODUCTS else image_plan(pages.plan)
    made = NewRun(new_id(), kind, plan.text(), str(source.id), source_id=source.id)
    run = pages.id if kind is RunKind.PRODUCTS else (await ensure_run(records.runs, made, "scheduler")).id
    plans = PlanCache(records.runs, recrawls=runs)
    assert await plans.get(run) == plan
    assert await records.sources.remove(source.id, source.uses)
    runs.forget(source.id)
    assert (await plans.get(run)).fetch.user_agents == ("Shopper/1.0",)
