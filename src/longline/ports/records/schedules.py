"""Schedules: what is crawled again, and when."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleFilter, ScheduleRow, ScheduleSpec, ScheduleTransition
from longline.model.schedules.slots import Shift, Waiting
from longline.model.states import Actor


class ScheduleStore(Protocol):
    """Remembers schedules; their states move in `TickStore` and `MoveStore`."""

    async def add(self, schedule: NewSchedule) -> ScheduleRow:
        """Make a schedule: `scheduled` when it recurs, else `pending`. `Conflict` if its source has a recurring one."""
        ...

    async def add_all(self, schedules: Sequence[NewSchedule]) -> list[ScheduleRow | None]:
        """Make schedules in one step; None stands for one whose source has a recurring schedule already."""
        ...

    async def get(self, schedule_id: int) -> ScheduleRow | None:
        """One schedule."""
        ...

    async def named(self, uid: str) -> ScheduleRow | None:
        """One schedule, by the id that is known outside."""
        ...

    async def find(
        self, wanted: ScheduleFilter | None = None, *, limit: int = 50, offset: int = 0
    ) -> list[ScheduleRow]:
        """Schedules, newest first unless another order is wanted."""
        ...

    async def count(self, wanted: ScheduleFilter) -> int:
        """How many there are of those."""
        ...

    async def states(self, kind: str) -> dict[str, int]:
        """How many schedules of a kind there are in each state."""
        ...

    async def recurring(self, source_ref: str) -> ScheduleRow | None:
        """The recurring schedule of a source."""
        ...

    async def amend(
        self, schedule_id: int, change: Callable[[ScheduleSpec], ScheduleSpec], *, placed: bool = False
    ) -> ScheduleRow | None:
        """Change what was said of it while nobody else can, with a new place for a new interval if it is `placed`.

        None when there is none; `Conflict` as in `add`.
        """
        ...

    async def remove(self, schedule_id: int) -> bool:
        """Forget a schedule that does not run, and its history; False when there is none or it runs."""
        ...

    async def waiting(self) -> list[Waiting]:
        """Everybody who has a time, and those who run."""
        ...

    async def shift(self, shifts: Sequence[Shift]) -> set[int]:
        """Give schedules other times, each only if it still has the old one; those that were given it."""
        ...


class PageChanges(msgspec.Struct, frozen=True):
    """What a source's start page was at its last run, since when, and how often it was found unchanged."""

    digest: str
    changed_at: int
    unchanged: int
    interval_ms: int


class PageChangeStore(Protocol):
    """Remembers one rhythm for each source. Raises `Unavailable` when it cannot."""

    async def get(self, source_ref: str) -> PageChanges | None:
        """What is known of a source."""
        ...

    async def keep(self, source_ref: str, rhythm: PageChanges) -> None:
        """Remember it."""
        ...

    async def forget(self, source_ref: str) -> None:
        """Forget a source."""
        ...


class CounterStore(Protocol):
    """Remembers numbers by name, for all processes together."""

    async def add(self, counts: Mapping[str, int]) -> None:
        """Add to numbers."""
        ...

    async def put(self, name: str, count: int) -> None:
        """Set a number."""
        ...

    async def all(self) -> dict[str, int]:
        """Every number."""
        ...


class Tick(NamedTuple):
    """A schedule that runs, and its run, as they were at that time of the engine."""

    schedule: ScheduleRow
    run: RunRow
    at: int


class Launch(NamedTuple):
    """A run that was made and now gets what it needs to begin."""

    run_id: int
    plan: str
    seed: str
    source_id: int | None
    budget: int | None = None


class RunStop(msgspec.Struct, frozen=True):
    """How a run that has not ended is brought to its end along with its schedule."""

    move: str
    actor: Actor
    error: str


class TickStore(Protocol):
    """Starts runs of schedules and ends them. Each call is one transaction, the events included."""

    async def start(self, owner: int, most: int, ttl_ms: int) -> list[Tick]:
        """Start what is due, what runs once first, as long as the owner holds fewer than `most`; each tick once."""
        ...

    async def launch(self, launches: Sequence[Launch], memory_mb: int = 0) -> set[int]:
        """Let queued runs begin, in a process that has used so much memory; return the runs that did."""
        ...

    async def renew(self, owner: int, ttl_ms: int) -> int:
        """Extend every lease of an owner on schedules; how many it holds."""
        ...

    async def look(self, owner: int, longest_ms: int, limit: int) -> list[Tick]:
        """Return every lapsed tick, and of the owner's those whose run has ended, is queued or takes too long."""
        ...

    async def adopt(self, ticks: Sequence[Tick], owner: int, ttl_ms: int, accused: frozenset[int]) -> list[Tick]:
        """Give lapsed ticks to a new owner, each only if it lapsed and nobody moved it; return those as they are now.

        The adoption counts against the `accused` runs, which may be what killed the process that held them.
        """
        ...

    async def hand_over(self, ticks: Sequence[Tick], reason: str) -> list[int]:
        """Release the leases of ticks whose runs go on; return those runs."""
        ...

    async def held(self, owner: int) -> list[Tick]:
        """Everything that an owner holds."""
        ...

    async def turn(
        self, turns: Sequence[tuple[ScheduleRow, ScheduleTransition]], actor: Actor
    ) -> dict[int, ScheduleRow]:
        """Write schedules as they are after their moves, each only if nobody moved it meanwhile; those written."""
        ...

    async def stop(self, tick: Tick, turn: ScheduleTransition, stop: RunStop, actor: Actor) -> ScheduleRow | None:
        """End a run and move its schedule, both or neither; None when somebody moved one of them meanwhile."""
        ...
