"""Runs that crawl the catalogue of a source, or one series of it: ordered, cancelled and looked up."""

import logging

import msgspec

from longline.engine.lifecycle.creation import create_series_run, replace_stuck_run
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.callers.audit import mask_text
from longline.model.callers.caller import Caller
from longline.model.errors import NotFound, Unavailable
from longline.model.logs.run_log import NewLogEntry, fields_text
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import DELAYED_MS
from longline.model.series.series_run import (
    CANCEL_ORDERED,
    STUCK_AFTER_MS,
    CatalogueFigures,
    NewSeriesRun,
    SeriesRunQuery,
    SeriesRunRow,
    SourceRunCounts,
    new_series_run,
)
from longline.model.sources.source import SourceRow
from longline.ports.clock import Clock
from longline.ports.records.logs import LogStore
from longline.ports.records.series import SeriesRunStore
from longline.ports.run_queue import RunQueue

log = logging.getLogger(__name__)

MAX_STUCK = 1000
"""Largest number of stuck runs that one order replaces."""


class SeriesRunOrderRequest(msgspec.Struct, frozen=True):
    """A run to be ordered: of one series, or of the whole catalogue; it starts at `due`, or at once."""

    source: SourceRow
    seeds: tuple[str, ...]
    series_id: str | None = None
    due: int | None = None


class ReplacedRun(msgspec.Struct, frozen=True):
    """A run that was stuck, by its id, and the queued run in its place."""

    stuck_uid: str
    run: SeriesRunRow


class SeriesRuns:
    """The runs of catalogues."""

    def __init__(
        self,
        runs: SeriesRunStore,
        lifecycle: Lifecycle,
        logs: LogStore,
        clock: Clock,
        queue: RunQueue | None = None,
    ) -> None:
        self._runs, self._lifecycle, self._logs, self._clock, self._queue = runs, lifecycle, logs, clock, queue

    async def order(self, wanted: SeriesRunOrderRequest, caller: Caller | None) -> SeriesRunRow:
        """Queue a run; raise `Conflict` while another run of the same series, or of the catalogue, is open."""
        now, source = self._clock.now(), wanted.source
        due = now if wanted.due is None else max(wanted.due, now)
        run = new_series_run(wanted.seeds, source.id, source.name, wanted.series_id, due)
        facts = NewSeriesRun(wanted.series_id, *((caller.subject, caller.name) if caller else (None, None)))
        made = await create_series_run(self._runs, run, facts, "person" if caller else "scheduler")
        return await self._shown(made)

    async def _shown(self, made: SeriesRunRow) -> SeriesRunRow:
        """Show a run that is due in the copy of the queue, and return it."""
        is_due = (made.run.due or 0) <= made.run.created_at + DELAYED_MS
        if self._queue is not None and is_due:
            await show_in_queue(self._queue, made.run.uid)
        return made

    async def replace_stuck(self, caller: Caller) -> list[ReplacedRun]:
        """Fail every run that is stuck, which counts as a failure of its source, and queue a new one in its place."""
        replaced: list[ReplacedRun] = []
        now = self._clock.now()
        for stuck in await self._runs.stuck(now - STUCK_AFTER_MS, MAX_STUCK):
            plan = CrawlPlan.read(stuck.run.plan)
            run = new_series_run(plan.seeds, stuck.run.source_id, plan.source_name, stuck.series_id, now)
            facts = NewSeriesRun(stuck.series_id, caller.subject, caller.name)
            made = await replace_stuck_run(self._runs, stuck, run, facts)
            if made is not None:
                replaced.append(ReplacedRun(stuck.run.uid, await self._shown(made)))
        return replaced

    async def figures(self) -> CatalogueFigures:
        """Return the numbers of open and stuck runs, and of sources."""
        return await self._runs.figures(self._clock.now() - STUCK_AFTER_MS)

    async def cancel(self, uid: str, reason: str | None = None) -> SeriesRunRow:
        """Cancel a queued or running run; raise `NotFound`, or `IllegalMove` for a run that has ended."""
        found = await self.get(uid)
        await self._lifecycle.move(MoveRequest("run", found.run.id, "cancel", "person", reason=reason))
        await self._log_order(found.run.id, reason)
        return await self.get(uid)

    async def _log_order(self, run_id: int, reason: str | None) -> None:
        """Log that a person has cancelled a run; a log never makes an operation fail."""
        fields = fields_text({"reason": mask_text(reason)} if reason else None)
        try:
            await self._logs.append(
                [NewLogEntry(run_id, self._clock.now(), "warn", "lifecycle", CANCEL_ORDERED, fields)], {}
            )
        except Unavailable as error:
            log.warning("run log entry not written", extra={"run": run_id, "error": str(error)})

    async def get(self, uid: str) -> SeriesRunRow:
        """Return a run; raise `NotFound` for an unknown id."""
        found = await self._runs.get(uid)
        if found is None:
            raise NotFound("run", uid)
        return found

    async def find(self, query: SeriesRunQuery, limit: int, offset: int) -> tuple[list[SeriesRunRow], int]:
        """Return a page of runs, and the number of all that are chosen."""
        return await self._runs.find(query, limit=limit, offset=offset), await self._runs.count(query)

    async def newest(self, limit: int, series_id: str | None = None) -> list[SeriesRunRow]:
        """Return the newest runs of one series, or of all, without their number."""
        return await self._runs.find(SeriesRunQuery(series_id=series_id), limit=limit, offset=0)

    async def remove_source(self, source: SourceRow) -> bool:
        """Delete a source with its runs and targets, queued runs cancelled; return False while a run is running."""
        return await self._runs.remove_source(source.id, source.uses)

    async def of_source(self, source_id: int) -> SourceRunCounts:
        """Return the numbers of the runs of a source, and its run that ended last."""
        return await self._runs.of_source(source_id)


async def show_in_queue(queue: RunQueue, uid: str) -> None:
    """Add a run to the copy of the queue; a copy never makes an operation fail."""
    try:
        await queue.push(uid)
    except Unavailable as error:
        log.warning("run not shown in the copy of the queue", extra={"run": uid, "error": str(error)})
