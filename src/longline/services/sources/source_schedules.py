"""Automatic schedules: one for each enabled source, with an interval computed from the source's settings."""

import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from longline.engine.lifecycle.creation import create_schedule
from longline.engine.lifecycle.runs import Call
from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.model.callers.audit import AuditContext, audit_context
from longline.model.errors import LonglineError
from longline.model.ids import new_id
from longline.model.schedules.schedule import (
    NewSchedule,
    ScheduleRow,
    ScheduleSpec,
    ScheduleTransition,
    interrupted,
    paused,
    resumed,
)
from longline.model.sources.source import CrawlSource
from longline.model.sources.source_schedule import automatic_schedule, first_run_delay_ms, stagger_ms
from longline.model.states import RUN_ENDED, ScheduleState
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.schedules import RunStop, ScheduleStore, Tick
from longline.ports.sources import SourceLookup
from longline.services.schedules.schedules import MAX_TRIES, PERSON, call_no_one

log = logging.getLogger(__name__)

SOURCE = "source"
"""Value of `paused_by` after a source was disabled; only a person resumes a person's pause."""

DISABLED = "the source was disabled"
ACTIVE_STATES = frozenset({ScheduleState.PENDING, ScheduleState.SCHEDULED, ScheduleState.RUNNING})

BATCH_SIZE = 500
"""Largest number of sources that are synchronised in one transaction."""


class SyncResult(msgspec.Struct):
    """The outcome of a synchronisation; the lists hold references of sources."""

    seen: int = 0
    enabled: int = 0
    created: list[str] = []
    kept: list[str] = []
    resumed: list[str] = []
    disabled: list[str] = []
    errors: list[str] = []


class SourceSchedules:
    """The automatic schedules: one for every enabled source that has one, none running for a disabled source."""

    def __init__(
        self,
        directory: SourceLookup,
        schedules: ScheduleStore,
        runs: RunStore,
        schedule_lifecycle: ScheduleLifecycle,
        clock: Clock,
        call: Call = call_no_one,
    ) -> None:
        self._directory, self._schedules, self._runs = directory, schedules, runs
        self._schedule_lifecycle, self._clock, self._call = schedule_lifecycle, clock, call

    async def create(self, source: CrawlSource) -> None:
        """Create the schedule of a new source; the priority of the source sets the delay of the first run."""
        terms = automatic_schedule(source)
        due = self._clock.now() + first_run_delay_ms(source)
        await self._add(NewSchedule(new_id(), terms.url, None, terms.interval_ms, due, terms, unplaced=True))

    async def _add(self, new: NewSchedule) -> None:
        await create_schedule(self._schedules, new, "scheduler")

    async def enabled(self, ref: str) -> None:
        """Make or resume the schedule of an enabled source to run now, unless a person paused it."""
        source = await self._directory.get(ref)
        if source is not None and source.is_scheduled:
            await self._ensure([source], SyncResult(enabled=1), None)
            await self._call()

    async def changed(self, ref: str, *, switched: bool) -> None:
        """Update the schedule of a changed source; if the source was `switched`, resume or pause its schedule."""
        source = await self._directory.get(ref)
        if source is None:
            return
        await self.renew(source)
        if switched:
            await (self.enabled if source.enabled else self.disabled)(ref)

    async def renew(self, source: CrawlSource) -> bool:
        """Update an automatic schedule except its state and next time; return whether a recurring schedule exists."""
        row = (await self._schedules.recurring(source.ref)).get(source.ref)
        if row is not None and row.automatic:
            await self._schedules.change(row.id, partial(_renewed, now=automatic_schedule(source)))
        return row is not None

    async def disabled(self, ref: str) -> None:
        """Pause the schedule of a disabled source, and cancel a run under way."""
        for _ in range(MAX_TRIES):
            row = (await self._schedules.recurring(ref)).get(ref)
            if row is None or row.state not in ACTIVE_STATES:
                return
            if await self._hold(row, self._clock.now()):
                return

    async def _hold(self, row: ScheduleRow, now: int) -> ScheduleRow | None:
        """Pause a schedule from any active state in one step; return None when another process moved it."""
        before = _calm(row, now)
        last = paused(before.after, now, SOURCE)
        turn = ScheduleTransition((*before.steps, *last.steps), last.after, last.reason)
        run = await self._runs.get(row.run_id or 0) if row.state == ScheduleState.RUNNING else None
        if run is None or run.state in RUN_ENDED:
            return (await self._schedule_lifecycle.move_all([(row, turn)], "scheduler")).get(row.id)
        return await self._schedule_lifecycle.stop(
            Tick(row, run, now), turn, RunStop("cancel", PERSON, DISABLED), "scheduler"
        )

    async def run(self) -> SyncResult:
        """Synchronise the schedules of all sources; an error at one source does not stop the others."""
        sources = [source for source in await self._directory.all() if source.is_scheduled]
        enabled = [source for source in sources if source.enabled]
        done = SyncResult(seen=len(sources), enabled=len(enabled))
        done.disabled = [source.ref for source in sources if not source.enabled]
        order = audit_context("source")
        for start in range(0, len(enabled), BATCH_SIZE):
            await self._sync(enabled[start : start + BATCH_SIZE], done, order)
        await self._call()
        return done

    async def _sync(self, sources: Sequence[CrawlSource], done: SyncResult, order: AuditContext | None) -> None:
        """Synchronise sources in one transaction, or after an error each source by itself."""
        try:
            await self._ensure(sources, done, order)
        except LonglineError as error:
            if len(sources) > 1:
                for source in sources:
                    await self._sync([source], done, order)
                return
            log.warning("schedule of a source not written", extra={"source": sources[0].ref})
            done.errors.append(f"{sources[0].ref}: {error}")

    async def _ensure(self, sources: Sequence[CrawlSource], done: SyncResult, order: AuditContext | None) -> None:
        """Make or resume the schedules of enabled sources in one transaction, which writes the order's audit row."""
        now = self._clock.now()
        known = await self._schedules.recurring(*(source.ref for source in sources))
        new = [self._staggered(s, now, done.enabled, order) for s in sources if s.ref not in known]
        held = [row for row in known.values() if row.state == ScheduleState.PAUSED and row.paused_by != PERSON]
        turns = [(row, msgspec.structs.replace(resumed(row, now), audit=order)) for row in held]
        made, moved = await self._schedule_lifecycle.sync(new, turns, "scheduler")
        created = {row.source_ref for row in made if row is not None}
        resumed_refs = {row.source_ref for row in moved.values()}
        for source in sources:
            outcome = (
                done.created if source.ref in created else done.resumed if source.ref in resumed_refs else done.kept
            )
            outcome.append(source.ref)

    def _staggered(self, source: CrawlSource, now: int, among: int, order: AuditContext | None) -> NewSchedule:
        """Return the schedule of a source, with a first run that its name spreads over the others'."""
        terms, due = automatic_schedule(source), now + stagger_ms(source.ref, among)
        new = NewSchedule(new_id(), terms.url, interval_ms=terms.interval_ms, next_due=due, terms=terms)
        return msgspec.structs.replace(new, audit=order)


def _renewed(before: ScheduleSpec, now: ScheduleSpec) -> ScheduleSpec:
    said = {name: getattr(now, name) for name in ("url", "source_name", "every", "unit", "priority")}
    return msgspec.structs.replace(before, **said)


def _calm(row: ScheduleRow, now: int) -> ScheduleTransition:
    """Return the transition to waiting for the regular time."""
    if row.state == ScheduleState.PENDING:
        return ScheduleTransition(("place",), msgspec.structs.replace(row, state=ScheduleState.SCHEDULED))
    return interrupted(row, now, DISABLED) if row.state == ScheduleState.RUNNING else ScheduleTransition((), row)
