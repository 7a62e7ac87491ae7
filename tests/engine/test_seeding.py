"""Runs that nobody holds, on both engines."""

import pytest

from longline.engine.lifecycle import Lifecycle
from longline.engine.seeding import Seeder, Wanted
from longline.model.plan import CrawlPlan
from longline.model.scope import STANDING
from longline.model.source import NewSource
from longline.ports.records import Records
from tests.drivers.records.world import claim, ended, get_run, host_report, report

SEEDS = tuple(f"https://a.example/{name}" for name in "dbca")


@pytest.fixture
def seeder(records: Records) -> Seeder:
    return Seeder(Lifecycle(records), records.runs, records.tasks)


@pytest.fixture
async def source_id(records: Records) -> int:
    return (await records.sources.add(NewSource("a", "https://a.example/"))).id


async def test_seeds_are_asked_for_every_time(seeder: Seeder, records: Records, source_id: int) -> None:
    wanted = Wanted("poll", CrawlPlan(SEEDS, max_depth=0), source_id)

    first, second = await seeder.ask(wanted), await seeder.ask(wanted)

    for run_id in (first, second):
        run = await get_run(records, run_id)
        assert (run.kind, run.state, run.open, run.owner, run.source_id) == ("poll", "running", 4, None, source_id)
        assert [task.url for task in await seeder.tasks_of(run_id)] == list(SEEDS)
    assert await seeder.tasks_of(12345) == []


async def test_where_a_redirect_led_comes_in_the_place_of_nobody(
    seeder: Seeder, records: Records, source_id: int
) -> None:
    run_id = await seeder.ask(Wanted("poll", CrawlPlan(SEEDS[:2]), source_id))
    (lease,) = (await claim(records)).values()
    outcomes = [ended(task, reason="redirected" if task.url == SEEDS[0] else "ok") for task in lease.tasks]
    await report(records, host_report(lease, outcomes))

    assert [task.url for task in await seeder.tasks_of(run_id)] == [SEEDS[1]]


async def test_the_standing_frontier_takes_everything_once(seeder: Seeder, records: Records, source_id: int) -> None:
    wanted = Wanted("feed", CrawlPlan(("https://a.example/feed",), exclude=("/no",)), source_id)
    urls = [
        "https://a.example/1",
        "https://a.example/1?utm_source=x",
        "http://a.example/1/",
        "",
        "/2",
        "https://a.example/no",
    ]

    assert await seeder.feed(wanted, [*urls, "https://b.example/3"], priority=7) == 2
    assert await seeder.feed(wanted, urls, priority=7) == 0
    assert await seeder.feed(wanted, ["https://b.example/4", *urls], priority=7) == 1

    first, second = sorted(await records.runs.find(), key=lambda run: run.id)
    assert (first.admitted, second.admitted) == (2, 1)
    assert {task.priority for task in await records.tasks.find()} == {7}


async def test_a_run_that_others_left_nothing_for_ends_at_once(
    seeder: Seeder, records: Records, source_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Wanted("feed", CrawlPlan(()), source_id)
    assert await seeder.feed(wanted, ["https://a.example/1"], priority=7) == 1

    async def nothing(scope: int, places: object) -> set[tuple[str, bytes]]:
        assert scope == STANDING
        return set()

    # Somebody admits it between the look and the admission.
    monkeypatch.setattr(records.tasks, "known", nothing)
    assert await seeder.feed(wanted, ["https://a.example/1"], priority=7) == 0

    newest = (await records.runs.find(limit=1))[0]
    assert (newest.state, newest.admitted) == ("completed", 0)
