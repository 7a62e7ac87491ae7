"""The adaptive factor of a schedule."""

from longline.model.schedules.schedule import ScheduleSpec
from longline.ports.records import Records
from longline.ports.records.schedules import PageChanges
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.engine.schedules.test_scheduler import schedule


async def test_the_factor_is_a_multiple_of_the_regular_interval(records: Records, clock: FakeClock):
    intervals = AdaptiveIntervals(records.page_changes)
    row = await schedule(records, "h1", interval_ms=1000, due=clock.now())
    assert await intervals.factor(row) is None
    await records.page_changes.save(row.source_ref, PageChanges("d", 1, 3, 4000))
    assert await intervals.factor(row) == (4.0 if row.source_ref and row.adaptive else None)
    assert ScheduleSpec(url="").adaptive
