"""Every legal move of a schedule, a run and a task, as data.

Only `engine/lifecycle/` carries moves out. From this table come its refusals, the SQL `CHECK` lists, the chart in
the docs and the property tests. A *fenced* move needs the lease of its row; a move that *gives* hands out a lease.

A worker may pass several states between two writes (`queued`, `crawling`, `downloaded`, `parsing`): only the rest
of the task is written, and `is_reachable` checks that the moves in between are legal.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Noun = Literal["schedule", "run", "task"]
Actor = Literal["person", "scheduler", "worker", "bot", "upkeep"]


class ScheduleState(StrEnum):
    """The states of a schedule: exactly the seven words of the interval contract."""

    PENDING = "pending"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunState(StrEnum):
    """The states of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskState(StrEnum):
    """The states of a task. `queued`, `crawling` and `parsing` are under a lease."""

    PENDING = "pending"
    QUEUED = "queued"
    CRAWLING = "crawling"
    DOWNLOADED = "downloaded"
    QUEUED_PARSE = "queued_parse"
    PARSING = "parsing"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


STATES: dict[Noun, type[StrEnum]] = {"schedule": ScheduleState, "run": RunState, "task": TaskState}

IN_HAND = frozenset({TaskState.QUEUED, TaskState.CRAWLING, TaskState.PARSING})
"""States that exist only while a lease is held; no row rests in them."""

ENDED = frozenset({TaskState.COMPLETED, TaskState.SKIPPED, TaskState.FAILED, TaskState.CANCELLED})
"""Fates of a task. Every other state counts as open."""

FRESH_STARTS = frozenset({"restart", "reparse"})
"""Moves that begin a task anew: they clear its error and, unless asked otherwise, its count of attempts."""

WAITS_FOR_PARSER = frozenset({TaskState.DOWNLOADED, TaskState.QUEUED_PARSE})
"""States of tasks whose page was fetched and waits to be parsed."""

RUN_ENDED = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Move:
    """One row of the table. A move with an empty `was` creates the row."""

    noun: Noun
    name: str
    was: frozenset[str]
    became: str
    actors: frozenset[Actor]
    fenced: bool = False
    gives: bool = False


S, R, T = ScheduleState, RunState, TaskState
_ANY_TASK: tuple[str, ...] = tuple(TaskState)


def _move(
    noun: Noun,
    name: str,
    was: Iterable[str],
    became: str,
    actors: str,
    *,
    fenced: bool = False,
    gives: bool = False,
) -> Move:
    known: dict[str, Actor] = {
        "person": "person",
        "scheduler": "scheduler",
        "worker": "worker",
        "bot": "bot",
        "upkeep": "upkeep",
    }
    return Move(noun, name, frozenset(was), became, frozenset(known[a] for a in actors.split()), fenced, gives)


# fmt: off
MOVES: tuple[Move, ...] = (
    #      noun        name           was                                            became           who may
    _move("schedule", "create",      (),                                            S.PENDING,       "person scheduler"),
    _move("schedule", "place",       (S.PENDING,),                                  S.SCHEDULED,     "person scheduler"),
    _move("schedule", "start",       (S.PENDING, S.SCHEDULED),                      S.RUNNING,       "scheduler", gives=True),
    _move("schedule", "adopt",       (S.RUNNING,),                                  S.RUNNING,       "scheduler", gives=True),
    _move("schedule", "hand_over",   (S.RUNNING,),                                  S.RUNNING,       "scheduler worker", fenced=True),
    _move("schedule", "succeed",     (S.RUNNING,),                                  S.COMPLETED,     "scheduler worker", fenced=True),
    _move("schedule", "recur",       (S.COMPLETED,),                                S.SCHEDULED,     "person scheduler worker"),
    _move("schedule", "retry_later", (S.RUNNING,),                                  S.SCHEDULED,     "scheduler worker", fenced=True),
    _move("schedule", "fail",        (S.RUNNING,),                                  S.FAILED,        "scheduler worker", fenced=True),
    _move("schedule", "interrupt",   (S.RUNNING,),                                  S.PENDING,       "scheduler worker", fenced=True),
    _move("schedule", "defer",       (S.RUNNING,),                                  S.SCHEDULED,     "scheduler worker", fenced=True),
    _move("schedule", "lapse",       (S.RUNNING,),                                  S.SCHEDULED,     "upkeep"),
    _move("schedule", "lapse_once",  (S.RUNNING,),                                  S.PENDING,       "upkeep"),
    _move("schedule", "pause",       (S.SCHEDULED,),                                S.PAUSED,        "person scheduler"),
    _move("schedule", "resume",      (S.PAUSED,),                                   S.SCHEDULED,     "person scheduler"),
    _move("schedule", "force_run",   (S.SCHEDULED,),                                S.PENDING,       "person"),
    _move("schedule", "retry",       (S.FAILED,),                                   S.PENDING,       "person"),
    _move("schedule", "cancel",      (S.PENDING, S.SCHEDULED, S.RUNNING, S.PAUSED), S.CANCELLED,     "person"),
    _move("schedule", "cancel_once", (S.RUNNING,),                                  S.CANCELLED,     "scheduler worker", fenced=True),

    _move("run",      "create",      (),                                            R.QUEUED,        "person scheduler"),
    _move("run",      "start",       (R.QUEUED,),                                   R.RUNNING,       "scheduler worker", gives=True),
    _move("run",      "adopt",       (R.RUNNING,),                                  R.RUNNING,       "scheduler worker", gives=True),
    _move("run",      "finish",      (R.RUNNING,),                                  R.COMPLETED,     "scheduler worker bot upkeep"),
    _move("run",      "fail_start",  (R.RUNNING,),                                  R.FAILED,        "scheduler worker bot upkeep"),
    _move("run",      "fail_judged", (R.RUNNING,),                                  R.FAILED,        "scheduler worker bot upkeep"),
    _move("run",      "fail",        (R.RUNNING,),                                  R.FAILED,        "scheduler worker", fenced=True),
    _move("run",      "refuse",      (R.QUEUED,),                                   R.FAILED,        "scheduler person"),
    _move("run",      "interrupt",   (R.RUNNING,),                                  R.CANCELLED,     "scheduler worker", fenced=True),
    _move("run",      "lapse",       (R.RUNNING,),                                  R.FAILED,        "upkeep"),
    _move("run",      "fail_stuck",  (R.RUNNING,),                                  R.FAILED,        "person"),
    _move("run",      "cancel",      (R.QUEUED, R.RUNNING),                         R.CANCELLED,     "person"),
    _move("run",      "reopen",      (R.COMPLETED, R.FAILED),                       R.RUNNING,       "person upkeep"),

    _move("task",     "admit",       (),                                            T.PENDING,       "person scheduler worker bot"),
    _move("task",     "claim",       (T.PENDING,),                                  T.QUEUED,        "worker", gives=True),
    _move("task",     "fetch",       (T.QUEUED,),                                   T.CRAWLING,      "worker", fenced=True),
    _move("task",     "download",    (T.CRAWLING,),                                 T.DOWNLOADED,    "worker", fenced=True),
    _move("task",     "offer",       (T.DOWNLOADED,),                               T.QUEUED_PARSE,  "worker", fenced=True),
    _move("task",     "take_parse",  (T.DOWNLOADED, T.QUEUED_PARSE),                T.PARSING,       "worker", gives=True),
    _move("task",     "parse",       (T.DOWNLOADED,),                               T.PARSING,       "worker", fenced=True),
    _move("task",     "complete",    (T.PARSING,),                                  T.COMPLETED,     "worker", fenced=True),
    _move("task",     "skip",        (T.QUEUED, T.CRAWLING, T.PARSING),             T.SKIPPED,       "worker", fenced=True),
    _move("task",     "retry",       (T.QUEUED, T.CRAWLING, T.PARSING),             T.PENDING,       "worker", fenced=True),
    _move("task",     "redirect",    (T.CRAWLING,),                                 T.PENDING,       "worker", fenced=True),
    _move("task",     "parse_again", (T.PARSING,),                                  T.DOWNLOADED,    "worker", fenced=True),
    _move("task",     "fail",        (T.QUEUED, T.CRAWLING, T.PARSING),             T.FAILED,        "worker", fenced=True),
    _move("task",     "pull",        (T.PENDING, T.EXPIRED),                        T.CRAWLING,      "bot", gives=True),
    _move("task",     "submit",      (T.CRAWLING,),                                 T.COMPLETED,     "bot", fenced=True),
    _move("task",     "hand_back",   (T.CRAWLING,),                                 T.PENDING,       "bot", fenced=True),
    _move("task",     "give_up",     (T.CRAWLING,),                                 T.FAILED,        "bot", fenced=True),
    _move("task",     "lapse",       (T.QUEUED, T.CRAWLING),                        T.PENDING,       "upkeep"),
    _move("task",     "lapse_parse", (T.PARSING,),                                  T.DOWNLOADED,    "upkeep"),
    _move("task",     "expire",      (T.CRAWLING,),                                 T.EXPIRED,       "upkeep person"),
    _move("task",     "exhaust",     (T.PENDING, T.CRAWLING, T.EXPIRED),            T.FAILED,        "upkeep"),
    _move("task",     "pause",       (T.PENDING, T.QUEUED, T.CRAWLING, T.PARSING),  T.PAUSED,        "person"),
    _move("task",     "resume",      (T.PAUSED,),                                   T.PENDING,       "person"),
    _move("task",     "cancel",      (s for s in _ANY_TASK if s != T.CANCELLED),    T.CANCELLED,     "person upkeep"),
    _move("task",     "restart",     _ANY_TASK,                                     T.PENDING,       "person upkeep"),
    _move("task",     "reparse",     _ANY_TASK,                                     T.DOWNLOADED,    "person"),
)
# fmt: on

BY_NAME: dict[tuple[Noun, str], Move] = {(m.noun, m.name): m for m in MOVES}


def move(noun: Noun, name: str) -> Move:
    """Return the move of that name."""
    return BY_NAME[noun, name]


def first_state(noun: Noun, steps: Iterable[str]) -> str:
    """Return the state of a new row after these moves, the first of which creates the row."""
    state: str | None = None
    for name in steps:
        rule = move(noun, name)
        if state not in (rule.was or {None}):
            raise ValueError(f"a {noun} cannot {name} when it is {state or 'new'}")
        state = rule.became
    if state is None:
        raise ValueError(f"no move creates the {noun}")
    return state


def legal(noun: Noun, state: str, actor: Actor | None = None) -> tuple[str, ...]:
    """Return the names of the legal moves from `state` (by `actor`, when given), in table order."""
    return tuple(m.name for m in MOVES if m.noun == noun and state in m.was and (actor is None or actor in m.actors))


def is_reachable(noun: Noun, start: str, end: str, actor: Actor) -> bool:
    """Return whether `actor`, holding the lease, may get from `start` to `end` by moves of the table."""
    steps = [m for m in MOVES if m.noun == noun and actor in m.actors and not m.gives]
    reached, edge = {start}, [start]
    while edge:
        here = edge.pop()
        for m in steps:
            if here in m.was and m.became not in reached:
                reached.add(m.became)
                # A rest ends the walk: moves after it need a new lease.
                if m.became in IN_HAND or m.became == T.DOWNLOADED:
                    edge.append(m.became)
    return end in reached and end != start
