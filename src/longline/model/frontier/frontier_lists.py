"""The frontier as lists for people show it: hosts in line, the tasks of a host, leases."""

from typing import Literal, NamedTuple

import msgspec

MAX_COUNTED_TASKS = 500
"""Largest number of tasks that a list counts for each host."""

MAX_SCANNED = 5000
"""Largest number of rows that one page of a filtered list reads."""


OPEN: Literal["open"] = "open"
"""The choice of all states that are no end."""


class TaskChoice(msgspec.Struct, frozen=True):
    """A choice of tasks: their state at rest, their host, the reason of their last end; None admits all."""

    state: str | None = None
    host: str | None = None
    reason: str | None = None


ANY_TASK = TaskChoice()


class ListedHost(msgspec.Struct, frozen=True):
    """A host with its politeness, its place in line and its holder.

    `wake_at` is when a free host is due, and when the lease on a held one ends; a host without it has nothing to do.
    `tasks` counts its waiting tasks up to `MAX_COUNTED_TASKS`.
    """

    host_id: int
    host: str
    delay_ms: int
    concurrency: int
    pace_until: int
    wake_at: int | None
    owner: int | None
    token: int
    not_before: int
    lapses: int
    owner_name: str | None
    tasks: int

    def place(self, now: int) -> str:
        """Return the place of the host in line, as a word."""
        if self.owner is not None:
            return "held"
        if self.wake_at is None:
            return "idle"
        return "ready" if self.wake_at <= now else "waiting"


class PlaceInLine(NamedTuple):
    """A place in the queue of a host; lists go on behind it."""

    due: int = -1
    priority: int = 0
    run_id: int = 0
    id: int = 0


class QueuedTask(msgspec.Struct, frozen=True):
    """A task in the queue of its host; a task `in_hand` carries the mark of the host's holder."""

    host_id: int
    id: int
    run_id: int
    url: str
    priority: int
    due: int
    attempt: int
    reason: str | None
    in_hand: bool

    @property
    def place(self) -> PlaceInLine:
        """Return the place of the task in the queue."""
        return PlaceInLine(self.due, self.priority, self.run_id, self.id)


class HeldTask(msgspec.Struct, frozen=True):
    """A task that a parser or a bot holds without its host, until `until`."""

    id: int
    executor: str
    owner: int
    until: int
    url: str
    run_id: int


class TaskExecutor(msgspec.Struct, frozen=True):
    """The executor of a task, with its present state and the time of its creation, which its public id has."""

    id: int
    executor: str
    state: str
    created_at: int


class LeasedTask(msgspec.Struct, frozen=True):
    """The lease and the origin of one task. `host_owner` holds its host; a task without an owner is at rest.

    The owner of a bot's lease is the bot's id with a minus sign.
    """

    host_id: int
    executor: str
    rest: str
    owner: int | None
    token: int
    lease_until: int | None
    not_before: int
    owner_name: str | None
    found_on: int | None
    found_on_url: str | None
    scope: int
