"""Rebalancing makes the changes of its preview, and only to schedules that were not moved meanwhile."""

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.model.schedules.schedule import paused
from longline.ports.records import Records
from longline.services.schedules.slots import Slots
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.engine.schedules.test_scheduler import current, schedule

DAY_MS = 86_400_000


async def test_preview_and_change_are_the_same(records: Records, clock: FakeClock):
    due = clock.now() + 3 * 3_600_000
    rows = [await schedule(records, f"h{n}", interval_ms=DAY_MS, due=due) for n in range(10)]
    slots = Slots(records.slots, records.schedules, clock)
    preview, _ = await slots.rebalance(apply=False)
    assert [(await current(records, row)).next_due for row in rows] == [due] * 10, "a preview changes nothing"
    balance, moved = await slots.rebalance(apply=True)
    assert (balance, moved) == (preview, 9)
    found = [await current(records, row) for row in rows]
    assert len({row.next_due for row in found}) == 10
    assert all(row.anchor == row.next_due for row in found if row.next_due != due)
    assert sum(await slots.hours()) == 10


async def test_a_schedule_that_was_moved_meanwhile_is_left_alone(records: Records, clock: FakeClock):
    due = clock.now() + 3 * 3_600_000
    rows = [await schedule(records, f"h{n}", interval_ms=DAY_MS, due=due) for n in range(3)]
    planned, _ = await Slots(records.slots, records.schedules, clock).rebalance(apply=False)
    await ScheduleLifecycle(records).move_all([(rows[2], paused(rows[2], clock.now(), "me"))], "person")
    shifted = await records.slots.shift(planned.shifts)
    assert shifted == {shift.id for shift in planned.shifts} - {rows[2].id}
    assert (await current(records, rows[2])).next_due is None


async def test_single_moves_of_the_preview_are_applied(records: Records, clock: FakeClock):
    due = clock.now() + 3 * 3_600_000
    rows = [await schedule(records, f"h{n}", interval_ms=DAY_MS, due=due) for n in range(5)]
    slots = Slots(records.slots, records.schedules, clock)
    shown = (await slots.preview()).shown
    assert {row.id for _, row in shown} < {row.id for row in rows}
    assert all(shift.id == row.id and shift.old == row.next_due for shift, row in shown)
    chosen = [shift for shift, _ in shown[:2]]
    await ScheduleLifecycle(records).move_all([(shown[0][1], paused(shown[0][1], clock.now(), "me"))], "person")
    assert await slots.move(chosen) == 1
    assert (await current(records, shown[1][1])).next_due == chosen[1].new
    assert sorted([(await current(records, row)).next_due or 0 for row in rows]) == sorted(
        [0, due, due, due, chosen[1].new]
    )
    assert await slots.move(chosen) == 0, "both have changed"


async def test_the_first_moves_are_out_of_the_fullest_slots(records: Records, clock: FakeClock):
    sparse, full = clock.now() + 3 * 3_600_000, clock.now() + 6 * 3_600_000
    for n in range(2):
        await schedule(records, f"sparse{n}", interval_ms=DAY_MS, due=sparse)
    for n in range(4):
        await schedule(records, f"full{n}", interval_ms=DAY_MS, due=full)
    assert [shift.old for shift, _ in (await Slots(records.slots, records.schedules, clock).preview()).shown] == [
        full
    ] * 3 + [sparse]


async def test_the_map_of_a_day_shows_loads_before_and_after(records: Records, clock: FakeClock):
    due = clock.now() + 3 * 3_600_000
    for n in range(10):
        await schedule(records, f"h{n}", interval_ms=DAY_MS, due=due)
    day = await Slots(records.slots, records.schedules, clock).preview()
    assert (len(day.before), sum(day.before), max(day.before)) == (96, 10, 10)
    assert (sum(day.after), max(day.after), len(day.plan.shifts)) == (10, 1, 9)
    assert day.before[(due - day.start) // 900_000] == 10
    shown = await Slots(records.slots, records.schedules, clock).day()
    assert (shown.start, shown.loads) == (day.start, day.before)


async def test_the_map_has_overdue_schedules_at_present_and_none_after_the_day(records: Records, clock: FakeClock):
    now = clock.now()
    await schedule(records, "overdue", interval_ms=DAY_MS, due=now - 3 * DAY_MS)
    await schedule(records, "once", interval_ms=None, due=now + 3_600_000)
    await schedule(records, "later", interval_ms=9 * DAY_MS, due=now + 2 * DAY_MS)
    day = await Slots(records.slots, records.schedules, clock).day()
    loads = {slot: load for slot, load in enumerate(day.loads) if load}
    assert loads == {(now - day.start) // 900_000: 1, (now + 3_600_000 - day.start) // 900_000: 1}
