"""The schedules that enabled sources should have."""

import pytest

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.sources.lookup import LocalSources
from longline.model.schedules.schedule import paused
from longline.model.sources.source import CrawlSource, NewSource
from longline.ports.records import Records
from longline.services.sources.source_schedules import SourceSchedules, computed, fnv1a, leading, minutes
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture
def sync(records: Records, clock: FakeClock) -> SourceSchedules:
    return SourceSchedules(
        LocalSources(records.sources), records.schedules, records.runs, ScheduleLifecycle(records), clock
    )


async def test_every_enabled_source_gets_its_schedule_once(records: Records, sync: SourceSchedules, clock: FakeClock):
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(5)]
    off = await records.sources.add(NewSource("off", "https://off.example/", enabled=False))
    done = await sync.run()
    refs = [row.public_id for row in made]
    assert (done.seen, done.enabled, done.created, done.disabled) == (6, 5, refs, [off.public_id])
    for ref in refs:
        row = await records.schedules.recurring(ref)
        assert row is not None
        assert (row.automatic, row.every, row.unit, row.state) == (True, 60, "minutes", "scheduled")
        assert row.next_due == clock.now() + fnv1a(ref) % 5 * 300_000
    again = await sync.run()
    assert (again.created, again.kept, again.errors) == ([], refs, [])


async def test_a_person_who_paused_is_not_overruled(records: Records, sync: SourceSchedules, clock: FakeClock):
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(2)]
    await sync.run()
    for row, by in zip(made, ("person", "source"), strict=True):
        found = await records.schedules.recurring(row.public_id)
        assert found is not None
        await ScheduleLifecycle(records).move_all([(found, paused(found, clock.now(), by))], "scheduler")
    done = await sync.run()
    assert (done.kept, done.resumed) == ([made[0].public_id], [made[1].public_id])
    back = await records.schedules.recurring(made[1].public_id)
    assert back is not None
    assert (back.state, back.next_due, back.paused_by) == ("scheduled", clock.now(), None)


@pytest.mark.parametrize(
    ("base", "rate", "depth", "failures", "wanted"),
    [
        (60, 10, 1, 0, 60),
        (60, 5, 1, 0, 90),
        (60, 20, 1, 0, 45),
        (60, 21, 1, 0, 30),
        (60, 0, 0, 0, 60),
        (15, 5, 3, 0, 27),
        (180, 5, 6, 0, 405),
        (60, 10, 1, 3, 480),
        (60, 10, 1, 9, 1440),
    ],
)
def test_intervals_worked_out_by_hand(base: int, rate: int, depth: int, failures: int, wanted: int):
    assert minutes(base, rate, depth, failures) == wanted


def test_small_things():
    assert [leading(text) for text in ("10s", "5", "", "often", " 7m")] == [10, 5, 10, 10, 7]
    assert fnv1a("") == 0x811C9DC5
    assert fnv1a("foobar") == 0xBF9CF968


def crawl_source(priority: str) -> CrawlSource:
    return CrawlSource(ref="1", name="n", url="https://n.example/", priority=priority)


def test_an_hour_is_an_hour():
    from_source = computed(crawl_source("normal"))
    assert from_source.interval_ms == 3_600_000
    assert (computed(crawl_source("critical")).every, computed(crawl_source("critical")).priority) == (15, 100)
    assert computed(crawl_source("urgent")).priority == 50
