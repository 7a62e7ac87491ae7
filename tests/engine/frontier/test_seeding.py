"""Runs without an owner, on both engines."""

from functools import partial

import pytest

from longline.engine.frontier.seeding import RunToMake, Seeder
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.errors import NotFound
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from tests.drivers.records.world import claim, ended, get_run, host_report, report
from tests.engine.web import standing
from tests.plans import crawl_plan

SEEDS = tuple(f"https://a.example/{name}" for name in "dbca")


@pytest.fixture
def seeder(records: Records) -> Seeder:
    return Seeder(Lifecycle(records), records.runs, records.tasks, standing(records))


@pytest.fixture
async def source_id(records: Records) -> int:
    return (await records.sources.add(NewSource("a", "https://a.example/"))).id


async def test_seeds_are_requested_in_every_run(seeder: Seeder, records: Records, source_id: int) -> None:
    wanted = RunToMake(RunKind.FEED_POLL, crawl_plan(SEEDS, max_depth=0), source_id)

    first, second = await seeder.ask(wanted), await seeder.ask(wanted)

    for run_id in (first, second):
        run = await get_run(records, run_id)
        assert run.kind == "poll"
        assert run.state == "running"
        assert run.open == 4
        assert run.owner is None
        assert run.source_id == source_id
        assert [task.url for task in await seeder.tasks_of(run_id)] == list(SEEDS)
    assert await seeder.tasks_of(12345) == []


async def test_a_run_is_not_made_if_its_seeds_cannot_be_admitted(
    seeder: Seeder, records: Records, source_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forget(_: object) -> None:
        """Add no hosts: the admission of their URLs fails."""

    monkeypatch.setattr(records.frontier, "ensure_hosts", forget)
    with pytest.raises(NotFound):
        await seeder.ask(RunToMake(RunKind.FEED_POLL, CrawlPlan(SEEDS), source_id))
    assert await records.runs.find() == []
    assert await records.events.find() == []


async def test_a_redirected_seed_is_left_out(seeder: Seeder, records: Records, source_id: int) -> None:
    run_id = await seeder.ask(RunToMake(RunKind.FEED_POLL, CrawlPlan(SEEDS[:2]), source_id))
    (lease,) = (await claim(records)).values()
    outcomes = [ended(task, reason="redirected" if task.url == SEEDS[0] else "ok") for task in lease.tasks]
    await report(records, host_report(lease, outcomes))

    assert [task.url for task in await seeder.tasks_of(run_id)] == [SEEDS[1]]


async def test_the_standing_frontier_admits_every_url_once(seeder: Seeder, records: Records, source_id: int) -> None:
    give = partial(seeder.feed, RunKind.STANDING_FEED, source_id, priority=7, hosts=("a.example", "b.example"))
    urls = [
        "https://a.example/1",
        "https://a.example/1?utm_source=x",
        "http://a.example/1/",
        "",
        "/2",
        "https://no.example/",
    ]

    assert await give([*urls, "https://b.example/3"]) == 2
    assert await give(urls) == 0
    assert await give(["https://b.example/4", *urls]) == 1
    assert await give([]) == 0

    (run,), source = await records.runs.find(), await records.sources.get(source_id)
    assert source is not None
    assert (run.kind, run.seed, run.source_id, run.admitted) == ("frontier.feed", source.public_id, source_id, 3)
    tasks = await records.tasks.find()
    assert {task.priority for task in tasks} == {7}
    row = await records.standing.get(tasks[0].id)
    assert row is not None
    assert row.kind == "frontier.feed"
