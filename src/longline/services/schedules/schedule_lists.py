"""Lists of schedules that are paged by key."""

from longline.model.schedules.schedule import ScheduleFilter, ScheduleRow
from longline.ports.records.schedules import ScheduleStore


class ScheduleLists:
    """Reader of long lists of schedules, none of which is counted."""

    def __init__(self, schedules: ScheduleStore) -> None:
        self._schedules = schedules

    async def find(self, wanted: ScheduleFilter, limit: int) -> list[ScheduleRow]:
        """Return matching schedules; `after` of the filter continues a list by next start."""
        return await self._schedules.find(wanted, limit=limit)
