"""Schedules: what is crawled again, and when."""

from collections.abc import Callable, Sequence
from typing import Protocol

from longline.model.schedule import NewSchedule, ScheduleRow, Terms, Wanted
from longline.model.slots import Shift, Waiting


class Schedules(Protocol):
    """Remembers schedules; their states move in `Ticks` and `Moves`."""

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

    async def find(self, wanted: Wanted | None = None, *, limit: int = 50, offset: int = 0) -> list[ScheduleRow]:
        """Schedules, newest first unless another order is wanted."""
        ...

    async def count(self, wanted: Wanted) -> int:
        """How many there are of those."""
        ...

    async def states(self, kind: str) -> dict[str, int]:
        """How many schedules of a kind there are in each state."""
        ...

    async def recurring(self, source_ref: str) -> ScheduleRow | None:
        """The recurring schedule of a source."""
        ...

    async def amend(
        self, schedule_id: int, change: Callable[[Terms], Terms], *, placed: bool = False
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
