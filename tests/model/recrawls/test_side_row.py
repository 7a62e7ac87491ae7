"""Side rows of recrawls after each kind of move, and their phases."""

import pytest
from msgspec.structs import replace

from longline.model.recrawls.recrawl_lists import PHASES, phase_of
from longline.model.recrawls.side_row import REPORTED, Moved, MoveKind, rest_of, side_row
from longline.model.states import TaskState

NOW = 1_000_000


TASK = Moved("pending", "pending", 500, 0, None, 900_000, 2, 7, 0, None, 60_000, recurring=True, waits=False)


def test_a_failure_that_is_retried_counts_and_has_its_next_time():
    row = side_row(replace(TASK, due=NOW + 60_000, began_at=NOW - 5), MoveKind(attempts=3), NOW)
    assert (row.rest, row.retries, row.due_at, row.started_at, row.ended_at) == ("pending", 3, NOW + 60_000, NOW - 5, 0)


def test_the_last_failure_adds_no_retry_and_ends_the_chain():
    row = side_row(replace(TASK, state="failed"), MoveKind(attempts=4), NOW)
    assert (row.rest, row.retries, row.ended_at, row.next_at) == ("failed", 2, NOW, None)
    assert side_row(replace(TASK, state="skipped"), REPORTED, NOW).rest == "failed"


def test_a_completed_recrawl_has_a_next_time_only_if_it_recurs():
    done = replace(TASK, state="completed")
    assert side_row(done, REPORTED, NOW).next_at == NOW + 60_000
    assert side_row(replace(done, recurring=False), REPORTED, NOW).next_at is None
    moved = side_row(replace(done, was="completed", next_at=5, ended_at=4), REPORTED, NOW)
    assert (moved.next_at, moved.ended_at) == (5, 4), "a priority changes no time"


def test_an_order_sets_the_due_time_and_a_restart_clears_the_retries():
    resumed = side_row(replace(TASK, was="paused", due=5), MoveKind(is_order=True), NOW)
    assert (resumed.due_at, resumed.retries, resumed.started_at) == (NOW, 2, 7)
    ended = replace(TASK, was="failed", ended_at=5, due=NOW + 9)
    anew = side_row(ended, MoveKind(due_at=NOW + 9, is_order=True, is_anew=True), NOW)
    assert (anew.due_at, anew.retries, anew.started_at, anew.ended_at) == (NOW + 9, 0, None, 0)
    past = side_row(replace(ended, due=0), MoveKind(due_at=9, is_order=True, is_anew=True), NOW)
    assert past.due_at == 9, "a past time is kept as given"
    assert side_row(ended, MoveKind(is_order=True, is_anew=True, keeps_retries=True), NOW).retries == 2


def test_a_wait_for_a_parent_outlives_a_pause_and_ends_with_a_restart():
    child = replace(TASK, waits=True)
    assert side_row(replace(child, state="paused"), MoveKind(is_order=True), NOW).waits
    assert side_row(replace(child, was="paused"), MoveKind(is_order=True), NOW).waits
    assert not side_row(child, MoveKind(is_order=True, is_anew=True), NOW).waits
    assert not side_row(replace(child, state="cancelled"), MoveKind(is_order=True), NOW).waits


@pytest.mark.parametrize("state", list(TaskState))
def test_every_state_has_a_phase_and_a_rest(state: TaskState):
    assert phase_of(state, due_at=0, waits=False, is_held=False, now_ms=NOW) in PHASES
    rests = {"pending", "downloaded", "queued_parse", "completed", "failed", "paused", "cancelled"}
    assert rest_of(state) in rests
