"""The table of moves is sound, equals the interval contract's table, and agrees with the checks of the database."""

import re
from enum import StrEnum

import pytest

from longline.model.states import ENDED, IN_HAND, MOVES, RUN_ENDED, STATES, Move, Noun, ScheduleState, TaskState
from tests.house.tree import SRC

NOUNS = tuple(STATES)

HELD: dict[Noun, set[str]] = {
    "schedule": {"running"},
    "run": {"running"},
    # `downloaded` is a rest too, but a worker that goes on to parse passes it under its lease.
    "task": {*IN_HAND, TaskState.DOWNLOADED},
}

FINAL: dict[Noun, set[str]] = {"schedule": {"cancelled"}, "run": {"cancelled"}, "task": set()}
"""States without a move away, on purpose."""

# The interval contract's transitions: rows from, columns to, a dot refuses. `i` is the platform's own doing
# (a one-time schedule whose run was interrupted or whose lease lapsed) and never a person's.
INTERVALS = """
              pending scheduled running paused completed failed cancelled
    pending         .         y       y      .         .      .         y
    scheduled       y         .       y      y         .      .         y
    running         i         y       .      .         y      y         y
    paused          .         y       .      .         .      .         y
    completed       .         y       .      .         .      .         .
    failed          y         .       .      .         .      .         .
    cancelled       .         .       .      .         .      .         .
"""


def of(noun: Noun) -> list[Move]:
    return [move for move in MOVES if move.noun == noun]


def states(noun: Noun) -> set[str]:
    return set(STATES[noun])


def reached(noun: Noun, start: set[str], moves: list[Move]) -> set[str]:
    """Return every state that these moves lead to from `start`."""
    found, grown = set(start), True
    while grown:
        more = {move.became for move in moves if move.was & found} - found
        found, grown = found | more, bool(more)
    return found


def cells() -> dict[tuple[str, str], str]:
    """Return (from, to) -> the text of the contract."""
    head, *rows = (line.split() for line in INTERVALS.strip().splitlines())
    return {(row[0], to): mark for row in rows for to, mark in zip(head, row[1:], strict=True)}


@pytest.mark.parametrize("noun", NOUNS)
def test_names_are_unique(noun: Noun):
    names = [move.name for move in of(noun)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("noun", NOUNS)
def test_moves_lead_from_states_to_states(noun: Noun):
    assert not {state for move in of(noun) for state in (*move.was, move.became)} - states(noun)


@pytest.mark.parametrize("noun", NOUNS)
def test_every_state_can_be_reached_from_birth(noun: Noun):
    born = {move.became for move in of(noun) if not move.was}
    assert len(born) == 1
    assert reached(noun, born, of(noun)) == states(noun)


@pytest.mark.parametrize("noun", NOUNS)
def test_every_open_state_has_a_way_out(noun: Noun):
    left = {state for move in of(noun) for state in move.was if state != move.became}
    assert states(noun) - left == FINAL[noun]


def test_ended_states_are_left_by_people_and_upkeep_only():
    for noun, ended in (("task", ENDED), ("run", RUN_ENDED)):
        for move in MOVES:
            if move.noun == noun and move.was & ended:
                assert move.actors <= {"person", "upkeep"}, move


@pytest.mark.parametrize("noun", NOUNS)
def test_held_states_follow_a_move_that_gives_a_lease(noun: Noun):
    given = {move.became for move in of(noun) if move.gives}
    fenced = [move for move in of(noun) if move.fenced]
    assert given <= HELD[noun]
    assert HELD[noun] <= reached(noun, given, fenced)


@pytest.mark.parametrize("noun", NOUNS)
def test_fenced_moves_start_where_a_lease_is_held(noun: Noun):
    for move in of(noun):
        if move.fenced:
            assert move.was, move
            assert move.was <= HELD[noun], move


@pytest.mark.parametrize("noun", NOUNS)
def test_a_worker_or_bot_leaves_a_held_state_only_with_its_lease(noun: Noun):
    in_hand = HELD[noun] - {TaskState.DOWNLOADED}
    for move in of(noun):
        # A run ends by itself when its last open task ends, reported by any worker: there the task's lease is
        # the fence.
        if (noun, move.name) in {("run", "finish"), ("run", "fail_start"), ("run", "fail_judged")} or move.gives:
            continue
        if move.was & in_hand and move.actors & {"worker", "bot", "scheduler"}:
            assert move.fenced, move


@pytest.mark.parametrize("noun", NOUNS)
def test_upkeep_frees_every_held_state_without_a_lease(noun: Noun):
    freed = {state for move in of(noun) if "upkeep" in move.actors and not move.fenced for state in move.was}
    assert HELD[noun] - {TaskState.DOWNLOADED} <= freed


def test_schedules_move_as_the_interval_contract_says():
    # An adoption changes the holder of a schedule and not its state.
    made = {(was, move.became) for move in of("schedule") for was in move.was if was != move.became}
    assert {key[0] for key in cells()} == {key[1] for key in cells()} == states("schedule")
    assert made == {cell for cell, mark in cells().items() if mark != "."}


def test_the_contracts_internal_moves_are_not_a_persons():
    internal = {cell for cell, mark in cells().items() if mark == "i"}
    for move in of("schedule"):
        if any((was, move.became) in internal for was in move.was):
            assert "person" not in move.actors, move


def test_seven_states_in_the_contracts_order():
    assert [state.value for state in ScheduleState] == INTERVALS.split()[:7]


def checked(table: str) -> set[str]:
    """Return the words that the database accepts in a table's `state` column."""
    schema = (SRC / "drivers/records/sql/schema.sql").read_text(encoding="utf-8")
    body = re.search(rf"CREATE TABLE (?:IF NOT EXISTS )?{table}\s*\((.*?)^\)", schema, re.S | re.M | re.I)
    assert body, f"schema.sql makes no table {table}"
    listed = re.search(r"CHECK\s*\(\s*state\s+IN\s*\(([^)]*)\)", body[1], re.S | re.I)
    assert listed, f"{table} does not check its states"
    return set(re.findall(r"'(\w+)'", listed[1]))


@pytest.mark.parametrize(
    ("table", "known"),
    [
        ("schedules", set(STATES["schedule"])),
        ("runs", set(STATES["run"])),
        ("tasks", set(STATES["task"])),
    ],
)
def test_the_database_checks_the_same_states(table: str, known: set[StrEnum]):
    assert checked(table) == known
