"""Ticks: schedules that come due, the runs they start, and how those move them on. For `engine/lifecycle.py` alone."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.run import RunRow
from longline.model.schedule import ScheduleRow, Turn
from longline.model.states import Actor


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


class Stop(msgspec.Struct, frozen=True):
    """How a run that has not ended is brought to its end along with its schedule."""

    move: str
    actor: Actor
    error: str


class Ticks(Protocol):
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

    async def turn(self, turns: Sequence[tuple[ScheduleRow, Turn]], actor: Actor) -> dict[int, ScheduleRow]:
        """Write schedules as they are after their moves, each only if nobody moved it meanwhile; those written."""
        ...

    async def stop(self, tick: Tick, turn: Turn, stop: Stop, actor: Actor) -> ScheduleRow | None:
        """End a run and move its schedule, both or neither; None when somebody moved one of them meanwhile."""
        ...
