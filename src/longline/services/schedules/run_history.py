"""Runs of schedules: histories, single runs, figures."""

import msgspec

from longline.engine.schedules.scheduler import STALE_LEASES
from longline.model.duration import DAY_MS
from longline.model.errors import NotFound
from longline.model.runs.run import DayTotals, RunRow, RunTotals
from longline.model.schedules.schedule import ScheduleKind, ScheduleRow
from longline.model.search.page_counts import PREFIX
from longline.model.states import ScheduleState
from longline.ports.clock import Clock
from longline.ports.records.metrics import CounterStore
from longline.ports.records.runs.runs import RunHistoryStore
from longline.ports.records.schedules import ScheduleStore


class SchedulerStats(msgspec.Struct, frozen=True):
    """Figures of the schedulers of all processes. Times are UTC milliseconds, 0 for never.

    `stale_leases` are counted since the start of the process that shows them.
    """

    states: dict[str, int]
    record: RunTotals
    polled_at: int
    figured_at: int
    stale_leases: int


class Runs:
    """Queries for runs and their figures."""

    def __init__(
        self, history: RunHistoryStore, schedules: ScheduleStore, counters: CounterStore, clock: Clock
    ) -> None:
        self._history, self._schedules, self._counters, self._clock = history, schedules, counters, clock
        self._stale_before = 0

    async def start_counting(self) -> None:
        """Count from now on what is counted since the start; called before any scheduler of this process runs."""
        self._stale_before = (await self._counters.all()).get(STALE_LEASES, 0)

    async def find(self, schedule: str, limit: int, offset: int) -> tuple[list[RunRow], int]:
        """Return the runs of a schedule, newest first, and their total; none for an unknown schedule."""
        row = await self._schedules.get_by_uid(schedule)
        if row is None:
            return [], 0
        found = await self._with_figures(await self._history.find(row.id, limit=limit, offset=offset))
        return found, (await self._history.record(row.id)).total

    async def get(self, uid: str) -> tuple[RunRow, ScheduleRow]:
        """Return a run and its schedule; raise `NotFound`, also for runs without a schedule."""
        run = await self._history.get_by_uid(uid)
        schedule = await self._schedules.get(run.schedule_id) if run is not None and run.schedule_id else None
        if run is None or schedule is None:
            raise NotFound("run", uid)
        [surveyed] = await self._with_figures([run])
        return surveyed, schedule

    async def _with_figures(self, runs: list[RunRow]) -> list[RunRow]:
        """Return the runs, with figures for ended runs: a scheduler stores the figures a moment after the end."""
        fresh = [run.id for run in runs if run.ended and run.figures is None]
        reviews = await self._history.review(fresh) if fresh else {}
        return [
            msgspec.structs.replace(run, figures=reviews[run.id].survey.text()) if run.id in reviews else run
            for run in runs
        ]

    async def record(self, schedule: str) -> tuple[RunTotals, ScheduleRow]:
        """Return the totals of a schedule's runs; raise `NotFound` for an unknown schedule."""
        row = await self._schedules.get_by_uid(schedule)
        if row is None:
            raise NotFound("schedule", schedule)
        return await self._history.record(row.id), row

    async def figures(self) -> SchedulerStats:
        """Return the figures of the schedulers."""
        found, counters = await self._schedules.states(ScheduleKind.CRAWL), await self._counters.all()
        return SchedulerStats(
            {state.value: found.get(state, 0) for state in ScheduleState},
            await self._history.record(),
            counters.get("polled_at", 0),
            self._clock.now(),
            counters.get(STALE_LEASES, 0) - self._stale_before,
        )

    async def pages(self) -> dict[str, int]:
        """Return the number of parsed pages in each class."""
        found = await self._counters.all()
        return {name.removeprefix(PREFIX): count for name, count in found.items() if name.startswith(PREFIX)}

    async def today(self) -> DayTotals:
        """Return the page and document counts of completed runs that started today (UTC)."""
        return await self._history.completed_totals(self._clock.now() // DAY_MS * DAY_MS)
