"""Schedules: what is crawled again, and when."""

from typing import Protocol

from longline.model.schedule import NewSchedule, ScheduleRow


class Schedules(Protocol):
    """Remembers schedules; their states move in `Moves`."""

    async def add(self, schedule: NewSchedule) -> ScheduleRow:
        """Make a schedule: `scheduled` when it recurs, else `pending`."""
        ...

    async def get(self, schedule_id: int) -> ScheduleRow | None:
        """One schedule."""
        ...

    async def named(self, uid: str) -> ScheduleRow | None:
        """One schedule, by the id that is known outside."""
        ...

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[ScheduleRow]:
        """Schedules, newest first."""
        ...
