"""Moves of a schedule's row: phases, retries, intervals that follow a page."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.errors import BadInput
from longline.model.schedules.schedule import (
    ScheduleRow,
    ScheduleSpec,
    back_off_ms,
    cancelled,
    failed,
    forced,
    interrupted,
    next_regular,
    paused,
    resumed,
    retried,
    stretch_ms,
    succeeded,
)

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
ROW = ScheduleRow(
    id=1,
    uid="u",
    source_id=None,
    url="https://a.example/",
    state="running",
    interval_ms=20 * MINUTE,
    next_due=0,
    created_at=0,
    updated_at=0,
    owner=7,
    token=3,
    lease_until=99,
    anchor=15 * MINUTE,
)
ONCE = msgspec.structs.replace(ROW, interval_ms=None, anchor=None)


@given(st.integers(0, 10**13), st.integers(1, 10**10), st.integers(0, 10**13), st.integers(0, 40))
def test_regular_times_lie_on_the_phase_and_ahead(anchor: int, interval: int, now: int, unchanged: int):
    row = msgspec.structs.replace(ROW, anchor=anchor, interval_ms=interval)
    due = next_regular(row, now)
    assert (due - anchor) % interval == 0
    assert now < due <= now + interval
    stretched = stretch_ms(interval, unchanged)
    later = next_regular(row, now, stretched)
    assert (later - anchor) % interval == 0
    assert later >= due
    assert later >= due - interval + stretched


def test_intervals_stretch_up_to_a_day_and_never_shrink():
    assert [stretch_ms(30 * MINUTE, n) // MINUTE for n in range(8)] == [30, 60, 120, 240, 480, 960, 1440, 1440]
    assert stretch_ms(2 * DAY, 5) == 2 * DAY


def test_retries_wait_twice_as_long_each_time_up_to_an_hour():
    waits = [back_off_ms(msgspec.structs.replace(ROW, retries=n)) // 1000 for n in range(8)]
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert back_off_ms(msgspec.structs.replace(ROW, retries=10**6)) == HOUR


def test_a_success_clears_the_failures():
    hurt = msgspec.structs.replace(ROW, retries=2, failures=2, error="x")
    turn = succeeded(hurt, 50 * MINUTE)
    after = turn.after
    assert (turn.steps, after.state, after.next_due) == (("succeed", "recur"), "scheduled", 55 * MINUTE)
    assert (after.retries, after.failures, after.error) == (0, 0, None)
    done = succeeded(ONCE, 9)
    assert (done.steps, done.after.state, done.after.next_due, done.after.completed_at) == (
        ("succeed",),
        "completed",
        None,
        9,
    )


def test_a_failure_is_retried_until_it_is_final():
    turn = failed(ROW, 1000, "no")
    assert (turn.steps, turn.after.retries, turn.after.next_due) == (("retry_later",), 1, 61_000)
    final = failed(msgspec.structs.replace(ROW, retries=3), 1000, "no")
    assert (final.steps, final.after.state, final.after.next_due) == (("fail",), "failed", None)
    assert failed(msgspec.structs.replace(ROW, max_retries=0), 1, "no").after.state == "failed"


def test_an_interrupted_schedule_waits_in_its_state():
    assert (interrupted(ROW, 20 * MINUTE, "x").steps, interrupted(ROW, 20 * MINUTE, "x").after.next_due) == (
        ("defer",),
        35 * MINUTE,
    )
    assert (interrupted(ONCE, 5, "x").after.state, interrupted(ONCE, 5, "x").after.next_due) == ("pending", 5)


def test_a_person_pauses_resumes_cancels_retries_and_forces_a_schedule():
    assert (paused(ROW, 5, "me").after.paused_at, paused(ROW, 5, "me").after.paused_by) == (5, "me")
    held = msgspec.structs.replace(ROW, state="paused", paused_at=5, paused_by="me")
    assert (resumed(held).window_ms, resumed(held).after.paused_at) == (20 * MINUTE, None)
    assert (resumed(held, 9).window_ms, resumed(held, 9).after.next_due) == (None, 9)
    assert (cancelled(ROW, 5).after.cancelled_at, cancelled(ROW, 5).after.next_due) == (5, None)
    assert (retried(ROW, 5).after.next_due, retried(ROW, 5).after.retries) == (5, 0)
    assert (forced(ROW, 5).after.next_due, forced(ROW, 5).after.anchor) == (5, ROW.anchor)


def test_terms_count_units_and_recur_only_when_enabled():
    terms = ScheduleSpec(url="https://a.example/", every=6, unit="hours")
    assert terms.interval_ms is None
    assert msgspec.structs.replace(terms, enabled=True).interval_ms == 6 * HOUR
    assert ROW.terms == ScheduleSpec(url="https://a.example/")


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"enabled": True}, {"max_retries": -1}, {"backoff_seconds": 0}, {"every": -1}]
)
def test_terms_that_contradict_themselves_are_refused(wrong: dict[str, int]):
    terms = msgspec.structs.replace(ScheduleSpec(url="https://a.example/"), **wrong)
    with pytest.raises(BadInput):
        terms.check()
