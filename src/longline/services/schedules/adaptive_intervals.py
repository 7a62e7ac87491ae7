"""Adaptive intervals, which follow the changes of a source's start page."""

from longline.model.schedules.schedule import ScheduleRow
from longline.ports.records.schedules import PageChangeStore


class AdaptiveIntervals:
    """The adaptive intervals of schedules."""

    def __init__(self, page_change_store: PageChangeStore) -> None:
        self._page_change_store = page_change_store

    async def factor(self, row: ScheduleRow) -> float | None:
        """Return the adaptive interval of a schedule as a multiple of its regular one; None without a known one."""
        if not row.adaptive or row.interval_ms is None or not row.source_ref:
            return None
        known = await self._page_change_store.get(row.source_ref)
        return None if known is None else known.interval_ms / row.interval_ms
