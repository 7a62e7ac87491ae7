"""Side rows of recrawls: the columns that follow every move of a task, and the time of the next generation."""

import msgspec

from longline.model.states import TaskState as T

RESTS = {
    T.SKIPPED: "failed",
    T.EXPIRED: "pending",
    T.QUEUED: "pending",
    T.CRAWLING: "pending",
    T.PARSING: "queued_parse",
}
"""Rests in side rows, where they are not the states of the tasks."""

CALLING_RESTS = frozenset({"completed", "cancelled"})
"""Rests of a parent that end the wait of its children."""

ENDED_RESTS = frozenset({"completed", "failed"})
"""Rests after which a webhook is sent."""


class Moved(msgspec.Struct, frozen=True):
    """The facts of a task after a move, as its side row needs them; `was` is the rest in the side row."""

    state: str
    was: str
    priority: int
    due: int
    began_at: int | None
    due_at: int
    retries: int
    started_at: int | None
    ended_at: int
    next_at: int | None
    every_ms: int
    recurring: bool
    waits: bool
    again_after_failure: bool = False


class SideRow(msgspec.Struct, frozen=True):
    """The columns of a side row that follow its task."""

    rest: str
    priority: int
    due_at: int
    retries: int
    started_at: int | None
    ended_at: int
    next_at: int | None
    waits: bool


class MoveKind(msgspec.Struct, frozen=True):
    """The kind of a task's move: a report with the attempts that were made, or an order that begins anew.

    `due_at` is the time that an order names, which may be over.
    """

    attempts: int | None = None
    due_at: int | None = None
    is_order: bool = False
    is_anew: bool = False
    keeps_retries: bool = False


REPORTED = MoveKind()


def rest_of(state: str) -> str:
    """Return the rest of a side row for the state of its task."""
    return RESTS.get(T(state), state)


def side_row(task: Moved, kind: MoveKind, now_ms: int) -> SideRow:
    """Return the side row of a task after a move."""
    rest = rest_of(task.state)
    ended_at, started_at = task.ended_at, task.began_at or task.started_at
    if kind.is_anew:
        ended_at, started_at = 0, None if rest == "pending" else started_at
    elif rest in ("completed", "failed") and rest != task.was:
        ended_at = now_ms
    return SideRow(
        rest,
        task.priority,
        _due_at(task, rest, kind, now_ms),
        _retries(task, rest, kind),
        started_at,
        ended_at,
        _next_at(task, rest, ended_at),
        task.waits and rest in ("pending", "paused") and not (kind.is_anew and rest == "pending"),
    )


def _next_at(task: Moved, rest: str, ended_at: int) -> int | None:
    """Return when the next generation is due, which a recrawl has while it is completed, or failed if it goes on."""
    if not task.recurring or (rest != "completed" and not (rest == "failed" and task.again_after_failure)):
        return None
    return task.next_at if task.was == rest and task.next_at is not None else ended_at + task.every_ms


def _due_at(task: Moved, rest: str, kind: MoveKind, now_ms: int) -> int:
    """Return when a recrawl is due: an order makes it due at once, unless it names another time."""
    if rest == "pending" and kind.is_order:
        return now_ms if kind.due_at is None else kind.due_at
    if rest != "pending" or task.waits:
        return task.due_at
    return task.due or task.due_at


def _retries(task: Moved, rest: str, kind: MoveKind) -> int:
    """Return the retries so far: a new phase and a restart begin at 0, a failure without a retry adds none."""
    if kind.is_anew:
        return task.retries if kind.keeps_retries else 0
    if kind.attempts is not None and rest in ("pending", "downloaded"):
        return kind.attempts
    return 0 if rest in ("queued_parse", "completed") and not kind.is_order else task.retries
