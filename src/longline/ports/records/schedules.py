"""Schedules, their slots, page changes and ticks, and named counters."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.runs.run import RunRow, RunSummary
from longline.model.schedules.schedule import (
    NewSchedule,
    ScheduleFilter,
    ScheduleKind,
    ScheduleRow,
    ScheduleSpec,
    ScheduleTransition,
)
from longline.model.schedules.slots import Shift, Waiting
from longline.model.states import Actor


class ScheduleStore(Protocol):
    """Schedules; `TickStore` and `MoveStore` change their states."""

    async def add(self, schedule: NewSchedule, actor: Actor = "person") -> ScheduleRow:
        """Make a schedule in its first state, and its event. `Conflict` if its source has a recurring one."""
        ...

    async def add_all(self, schedules: Sequence[NewSchedule], actor: Actor = "person") -> list[ScheduleRow | None]:
        """Make schedules in one step; None stands for a schedule of a source that has a recurring one."""
        ...

    async def get(self, schedule_id: int) -> ScheduleRow | None:
        """Return one schedule."""
        ...

    async def get_by_uid(self, uid: str) -> ScheduleRow | None:
        """Return one schedule, by its public id."""
        ...

    async def find(
        self, wanted: ScheduleFilter | None = None, *, limit: int = 50, offset: int = 0
    ) -> list[ScheduleRow]:
        """Return schedules, newest first unless another order is wanted."""
        ...

    async def count(self, wanted: ScheduleFilter) -> int:
        """Return the number of matching schedules."""
        ...

    async def states(self, kind: ScheduleKind) -> dict[str, int]:
        """Return the number of schedules of a kind in each state."""
        ...

    async def recurring(self, *source_refs: str) -> dict[str, ScheduleRow]:
        """Return the recurring schedules of sources, by the references of the sources."""
        ...

    async def change(
        self, schedule_id: int, change: Callable[[ScheduleSpec], ScheduleSpec], *, placed: bool = False
    ) -> ScheduleRow | None:
        """Change a schedule's settings under a lock, with a new slot for a new interval if `placed`.

        Returns None for an unknown schedule; raises `Conflict` as `add` does.
        """
        ...

    async def remove(self, schedule_id: int) -> bool:
        """Delete a schedule and its history; return False when unknown or running."""
        ...


class SlotStore(Protocol):
    """The due times of all schedules, and their slots."""

    async def loads(self, until: int) -> dict[int, int]:
        """Return the number of schedules in each slot before a time; overdue schedules are in the present slot."""
        ...

    async def waiting(self) -> list[Waiting]:
        """Return schedules with a due time, and running schedules."""
        ...

    async def shift(self, shifts: Sequence[Shift]) -> set[int]:
        """Move due times, each only if the old due time is unchanged; return the schedules that were moved."""
        ...


class PageChanges(msgspec.Struct, frozen=True):
    """The digest of a source's start page, the time of its last change, and the number of unchanged fetches since."""

    digest: str
    changed_at: int
    unchanged: int
    interval_ms: int


class PageChangeStore(Protocol):
    """Page changes of each source. Raises `Unavailable` when the store cannot be used."""

    async def get(self, source_ref: str) -> PageChanges | None:
        """Return the page changes of a source."""
        ...

    async def save(self, source_ref: str, page_changes: PageChanges) -> None:
        """Save the page changes of a source."""
        ...

    async def forget(self, source_ref: str) -> None:
        """Delete the page changes of a source."""
        ...


class Tick(NamedTuple):
    """A running schedule and its run, as of engine time `at`."""

    schedule: ScheduleRow
    run: RunRow
    at: int


class Launch(NamedTuple):
    """A new run, and the plan, seed, source and budget that it starts with."""

    run_id: int
    plan: str
    seed: str
    source_id: int | None
    budget: int | None = None


class RunStop(msgspec.Struct, frozen=True):
    """The move, actor and error that end an open run along with its schedule."""

    move: str
    actor: Actor
    error: str


class FinishedTick(NamedTuple):
    """A tick with a done run as it was read, the run's end, its summary, and the transition of its schedule.

    `end` is the move that ends the run; None for a run that has ended already.
    """

    tick: Tick
    end: str | None
    error: str | None
    summary: RunSummary
    turn: ScheduleTransition


class ScheduleAmendment(NamedTuple):
    """A change of the terms of a schedule, and moves that follow it.

    Each of `turns` gets the schedule before the change and as it is now, and returns a move or None. `run`, if given,
    is under way and is cancelled with the schedule. With a `token` the schedule must not have been moved since.
    """

    change: Callable[[ScheduleSpec], ScheduleSpec]
    turns: Sequence[Callable[[ScheduleRow, ScheduleRow], ScheduleTransition | None]]
    run: RunRow | None = None
    token: int | None = None


class TickStore(Protocol):
    """Starts and ends of runs of schedules. Each call is one transaction, the events included."""

    async def start(self, owner: int, max_running: int, ttl_ms: int) -> list[Tick]:
        """Start due schedules, one-time ones first, up to `max_running` held by the owner; each tick starts once."""
        ...

    async def launch(self, launches: Sequence[Launch], memory_mb: int = 0) -> set[int]:
        """Start queued runs and note the memory of the process; return the runs that started."""
        ...

    async def renew(self, owner: int, ttl_ms: int) -> int:
        """Extend every lease of an owner on schedules; return the number of leases held."""
        ...

    async def look(self, owner: int, longest_ms: int, limit: int) -> list[Tick]:
        """Return all lapsed ticks, and the owner's ticks with an ended, a queued or an overlong run."""
        ...

    async def adopt(self, ticks: Sequence[Tick], owner: int, ttl_ms: int, accused: frozenset[int]) -> list[Tick]:
        """Give lapsed ticks to a new owner, each only if lapsed and not moved; return the adopted ticks.

        The adoption counts against the `accused` runs, which may have killed the process that held them.
        """
        ...

    async def hand_over(self, ticks: Sequence[Tick], reason: str) -> list[int]:
        """Release the leases of ticks with continuing runs; return those runs."""
        ...

    async def held(self, owner: int) -> list[Tick]:
        """Return all ticks that an owner holds."""
        ...

    async def write_moved(
        self, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor
    ) -> dict[int, ScheduleRow]:
        """Write schedules after their moves, each only if not moved meanwhile; return the written schedules."""
        ...

    async def sync(
        self,
        new: Sequence[NewSchedule],
        turns: Sequence[tuple[ScheduleRow, ScheduleTransition]],
        actor: Actor,
    ) -> tuple[list[ScheduleRow | None], dict[int, ScheduleRow]]:
        """Make schedules as `ScheduleStore.add_all` does and move others as `write_moved` does, in one transaction.

        The changes that one caller ordered have one audit row.
        """
        ...

    async def finish(self, ticks: Sequence[FinishedTick]) -> dict[int, ScheduleRow]:
        """End runs with their summaries and move their schedules, each pair only if neither was moved meanwhile.

        Returns the moved schedules.
        """
        ...

    async def stop(self, tick: Tick, turn: ScheduleTransition, stop: RunStop, actor: Actor) -> ScheduleRow | None:
        """End a run and move its schedule, both or neither; return None when either was moved meanwhile."""
        ...

    async def amend(self, schedule_id: int, amendment: ScheduleAmendment, actor: Actor) -> ScheduleRow | None:
        """Change the terms of a schedule and move it, all or nothing; return None when it, or its run, was moved."""
        ...


class ScheduleStores(Protocol):
    """The two stores that write schedules."""

    @property
    def schedules(self) -> ScheduleStore:
        """Return the store of schedules."""
        ...

    @property
    def ticks(self) -> TickStore:
        """Return the store of ticks."""
        ...
