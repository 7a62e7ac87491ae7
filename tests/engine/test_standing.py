"""Runs of the standing frontier on both engines."""

import msgspec

from longline.engine.directory import OwnDirectory
from longline.engine.plans import Plans
from longline.engine.standing import StandingRules, StandingRuns, standing_plan
from longline.model.bounds import bounds_of
from longline.model.ids import new_id
from longline.model.plan import CrawlPlan
from longline.model.run import NewRun
from longline.model.source import CrawlSource, NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock

RULES = StandingRules(delay_ms=7, attempts=2, max_redirects=1)


async def test_there_is_one_run_for_each_origin_and_source(records: Records, clock: FakeClock) -> None:
    crawl = '{"rate_limit": "3s", "selectors": {"article": {"title": "h1"}}}'
    source = await records.sources.add(NewSource("news", "https://news.example/", crawl=crawl))
    first, second = [StandingRuns(records.runs, OwnDirectory(records.sources), RULES, clock) for _ in range(2)]

    run = await first.get("frontier.feed", str(source.id))

    assert await second.get("frontier.feed", str(source.id)) == run
    assert (await first.get("frontier.manual", str(source.id))).id != run.id
    stored = await records.runs.get(run.id)
    assert stored is not None
    assert (stored.source_id, CrawlPlan.read(stored.plan), stored.state) == (source.id, run.plan, "queued")
    assert (run.plan.source_name, run.plan.delay_ms) == ("news", 3000)
    assert run.plan.config["selectors"] == {"article": {"title": "h1"}}


async def test_a_run_goes_by_other_rules_once_they_are_renewed(records: Records, clock: FakeClock) -> None:
    source = await records.sources.add(NewSource("news", "https://news.example/"))
    before = await StandingRuns(records.runs, OwnDirectory(records.sources), RULES, clock).get(
        "frontier.feed", str(source.id)
    )
    await records.runs.add(NewRun(new_id(), "crawl", "{}", seed="s"))
    rules = msgspec.structs.replace(RULES, attempts=9)
    later = StandingRuns(records.runs, OwnDirectory(records.sources), rules, clock)

    assert [await later.renew(), await later.renew()] == [1, 0]

    assert (await Plans(records.runs, clock).get(before.id)).max_attempts == 9
    assert (await later.get("frontier.feed", str(source.id))).id == before.id
    await records.sources.change(msgspec.structs.replace(source, crawl='{"rate_limit": "4s"}'))
    assert await later.renew() == 1, "what its source says counts too"
    assert (await Plans(records.runs, clock).get(before.id)).delay_ms == 4000


async def test_a_source_that_nobody_knows_has_one_too(records: Records, clock: FakeClock) -> None:
    runs = StandingRuns(records.runs, OwnDirectory(records.sources), RULES, clock)

    plan = (await runs.get("frontier.manual", "somebody's")).plan

    assert (plan.source_id, plan.delay_ms, plan.max_attempts, plan.max_redirects) == (None, 7, 2, 1)


def test_files_and_downloads_are_never_asked_for() -> None:
    bounds = bounds_of(standing_plan(CrawlSource(ref="1", name="a", url="https://a.example/"), RULES))

    for url in ("https://a.example/x.PDF", "https://a.example/a.mp3?x", "https://a.example/download.php?x=1"):
        assert bounds.bars(url)
    for url in ("https://a.example/", "https://a.example/pdf", "https://a.example/x?y=/download.php"):
        assert not bounds.bars(url)
