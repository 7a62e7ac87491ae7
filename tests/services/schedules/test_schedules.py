"""Schedules as a service: simultaneous creation and moves of one schedule."""

import asyncio

import msgspec
import pytest

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.model.errors import IllegalMove, LonglineError, NotFound
from longline.model.schedules.schedule import ScheduleSpec, failed
from longline.model.schedules.slots import slot_of
from longline.ports.records import Records
from longline.services.schedules.schedules import NoSuchTransition, Schedules
from longline.services.schedules.slots import Slots
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names

TERMS = ScheduleSpec(url="https://a.example/", source_ref="7", every=1, unit="days", enabled=True)


@pytest.fixture
def schedules(records: Records, clock: FakeClock) -> Schedules:
    return Schedules(ScheduleLifecycle(records), records.schedules, records.runs, records.page_changes, clock)


async def test_simultaneous_creations_of_a_recurring_schedule_make_one(schedules: Schedules, records: Records):
    made = await asyncio.gather(*(schedules.make(TERMS) for _ in range(8)))
    assert len({row.uid for row in made}) == 1
    assert len(await records.schedules.find()) == 1


async def test_schedules_made_together_get_different_slots(schedules: Schedules, clock: FakeClock, records: Records):
    terms = [
        ScheduleSpec(url="https://a.example/", source_ref=str(n), every=1, unit="days", enabled=True) for n in range(24)
    ]
    made = await asyncio.gather(*(schedules.make(one) for one in terms))
    assert len({slot_of(row.next_due or 0) for row in made}) == 24
    assert sum(await Slots(records.slots, records.schedules, clock).hours()) == 24


async def test_of_simultaneous_pauses_one_succeeds(schedules: Schedules):
    row = await schedules.make(TERMS)
    done = await asyncio.gather(*(schedules.pause(row.uid) for _ in range(8)), return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in done) == 1
    assert all(isinstance(one, IllegalMove) for one in done if isinstance(one, BaseException))


async def test_a_cancellation_during_a_start_ends_cancelled(schedules: Schedules, records: Records):
    schedule_lifecycle = ScheduleLifecycle(records)
    for n in range(5):
        row = await schedules.make(ScheduleSpec(url="https://a.example/", source_ref=f"once {n}"))
        await asyncio.gather(schedule_lifecycle.start(1, 10, 60_000), schedules.cancel(row.uid))
        assert (await schedules.get(row.uid)).state == "cancelled"
        assert {run.state for run in await records.history.find(row.id)} <= {"cancelled"}


async def test_a_failed_recurring_schedule_is_revived_by_another_creation(schedules: Schedules, records: Records):
    row = await schedules.make(TERMS)
    await schedules.change(row.uid, lambda terms: msgspec.structs.replace(terms, max_retries=0), "pending")
    [tick] = await ScheduleLifecycle(records).start(1, 10, 60_000)
    turn = (tick.schedule, failed(tick.schedule, tick.at, "no"))
    assert await ScheduleLifecycle(records).move_all([turn], "scheduler")
    again = await schedules.make(TERMS)
    assert (again.uid, again.state, again.max_retries) == (row.uid, "pending", 3)


async def test_a_missing_schedule_and_an_illegal_state_are_errors(schedules: Schedules):
    with pytest.raises(NotFound):
        await schedules.get("nowhere")
    row = await schedules.make(TERMS)
    with pytest.raises(NoSuchTransition, match="invalid state transition from scheduled to running"):
        await schedules.change(row.uid, lambda terms: terms, "running")
    assert issubclass(NoSuchTransition, LonglineError)


async def test_states_without_schedules_are_zero(schedules: Schedules):
    await schedules.make(TERMS)
    found = await schedules.states()
    assert (len(found), found["scheduled"], sum(found.values())) == (7, 1, 1)
