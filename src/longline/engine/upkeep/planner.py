"""The planner: starts what is due, follows runs to their end, and takes back what dead planners left.

A schedule is held by the planner that started its run. Who holds it renews; what is not renewed is taken back by
whoever looks, its run failed and its next time on its phase. Nothing here needs a leader: every step is guarded by the
rows it changes.
"""

import asyncio
import logging
import resource
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from longline.engine.admit import seed
from longline.engine.directory import CrawlRules, plan_of
from longline.engine.lifecycle import Lifecycle, Timetable
from longline.model.errors import LonglineError, Unavailable
from longline.model.plan import CrawlPlan
from longline.model.run import Note, Review, Start, Survey
from longline.model.schedule import ScheduleRow, Turn, failed, interrupted, recovered, stretch_ms, succeeded
from longline.model.states import RUN_ENDED, Actor, RunState
from longline.ports.clock import Clock
from longline.ports.directory import Directory
from longline.ports.records.rhythms import Rhythm, Rhythms, Tallies
from longline.ports.records.runs import History
from longline.ports.records.ticks import Launch, Stop, Tick

log = logging.getLogger(__name__)

AT_ONCE = 100
ASK_AT_ONCE = 10
"""How many ended runs are seen to together, and how many sources are asked for."""

NO_SOURCE = "job missing required source_id"
STALE = "recovered: stale lock"
SHUTDOWN = "interrupted by shutdown"


class PlannerSettings(msgspec.Struct, frozen=True):
    """How much one planner takes on. Times are milliseconds."""

    most: int = 100
    lease_ms: int = 300_000
    longest_ms: int = 3_600_000
    budget: int | None = None
    rules: CrawlRules = CrawlRules()


@dataclass(frozen=True, slots=True)
class Parts:
    """What a planner works with; it owns leases under `owner`, and has every run that begins `see`n to."""

    timetable: Timetable
    lifecycle: Lifecycle
    directory: Directory
    history: History
    rhythms: Rhythms
    tallies: Tallies
    clock: Clock
    owner: int
    see: Callable[[int], None] = lambda _: None


Planned = tuple[CrawlPlan, int | None]
"""The plan of a run and the source it is for."""


class Planner:
    """Starts, follows and recovers runs of schedules."""

    def __init__(self, parts: Parts, settings: PlannerSettings) -> None:
        self._parts, self._settings = parts, settings
        self._timetable = parts.timetable
        self._asking = asyncio.Semaphore(ASK_AT_ONCE)
        self._begun: dict[int, float] = {}
        self._full = False

    async def poll(self) -> int:
        """Start what is due, as far as there is room; how many runs were made."""
        s = self._settings
        ticks = await self._timetable.start(self._parts.owner, s.most, s.lease_ms)
        self._begun |= {tick.run.id: time.process_time() for tick in ticks}
        self._full = len(ticks) >= min(s.most, AT_ONCE)
        await self._launch(ticks)
        await self._parts.tallies.put("polled_at", self._parts.clock.now())
        if ticks:
            log.info("schedules came due", extra={"count": len(ticks)})
        return len(ticks)

    async def follow(self) -> int:
        """Move schedules on whose runs have ended, lapsed or take too long; how many."""
        moved = 0
        while ticks := await self._timetable.look(self._parts.owner, self._settings.longest_ms, AT_ONCE):
            done = await self._settle([tick for tick in ticks if tick.run.state in RUN_ENDED])
            for tick in ticks:
                if tick.run.state not in RUN_ENDED:
                    done += await self._break_off(tick)
            moved += done
            if not done or len(ticks) < AT_ONCE:
                break
        # A person who cancels a run ends it without us.
        await self._note(await self._parts.history.ended(list(self._begun)))
        if moved and self._full:
            await self.poll()
        return moved

    async def renew(self) -> None:
        """Say that what we hold is held by somebody who lives."""
        await self._timetable.renew(self._parts.owner, self._settings.lease_ms)

    async def leave(self) -> None:
        """Break off what we hold, through no fault of its own: somebody else may run it at once."""
        broken: list[int] = []
        # Again while there are any: workers that stop with us bring in what they have, and a run that has just ended is
        # not broken off.
        while held := await self._timetable.held(self._parts.owner):
            await self._settle([tick for tick in held if tick.run.state in RUN_ENDED])
            for tick in held:
                if tick.run.state not in RUN_ENDED:
                    turn = interrupted(tick.schedule, tick.at, SHUTDOWN)
                    await self._stop(tick, turn, "interrupt", "planner", SHUTDOWN)
                    broken.append(tick.run.id)
        # Last of all: there is little time, and figures are the least of it.
        await self._note(broken)

    # -- beginning --------------------------------------------------------------------------------------------

    async def _launch(self, ticks: Sequence[Tick]) -> None:
        planned = await asyncio.gather(*(self._planned(tick) for tick in ticks))
        made = [(tick, plan) for tick, plan in zip(ticks, planned, strict=True) if plan is not None]
        try:
            await self._begin({tick.run.id: plan for tick, plan in made})
        except (Unavailable, OSError):
            raise
        except Exception:
            # One run that an engine cannot take must not keep the others from theirs.
            log.exception("runs could not begin together", extra={"count": len(made)})
            for tick, plan in made:
                await self._begin_alone(tick, plan)

    async def _begin_alone(self, tick: Tick, plan: Planned) -> None:
        try:
            await self._begin({tick.run.id: plan})
        except (Unavailable, OSError):
            raise
        except Exception as error:
            await self._note([tick.run.id], traceback.format_exc())
            turn = failed(tick.schedule, tick.at, repr(error))
            # How far it came before is not known.
            begun = msgspec.structs.replace(tick.run, state=RunState.RUNNING)
            if not await self._end(tick, turn, Stop("refuse", "planner", repr(error))):
                await self._end(Tick(tick.schedule, begun, tick.at), turn, Stop("fail", "planner", repr(error)))

    async def _begin(self, plans: Mapping[int, Planned]) -> None:
        most = self._settings.budget
        launches = [Launch(i, plan.text(), plan.seeds[0], source_id, most) for i, (plan, source_id) in plans.items()]
        await self._timetable.launch(launches)
        for launch in launches:
            self._parts.see(launch.run_id)
        seeds = [seed(url, run_id, plan) for run_id, (plan, _) in plans.items() for url in plan.seeds]
        if seeds:
            await self._parts.lifecycle.admit([task for task, _ in seeds], [host for _, host in seeds])

    async def _planned(self, tick: Tick) -> Planned | None:
        """None for a run that has failed before it could begin."""
        try:
            async with self._asking:
                return await self._plan(tick)
        except LonglineError as error:
            await self._refuse(tick, str(error))
        except Exception as error:
            log.exception("a run could not be planned", extra={"schedule": tick.schedule.uid})
            await self._refuse(tick, repr(error), traceback.format_exc())
        return None

    async def _plan(self, tick: Tick) -> Planned:
        schedule = tick.schedule
        if not schedule.source_ref:
            raise LonglineError(NO_SOURCE)
        source = await self._parts.directory.get(schedule.source_ref)
        if source is None:
            raise LonglineError(f"source not found: {schedule.source_ref}")
        return plan_of(source, schedule.url, self._settings.rules), source.id

    async def _refuse(self, tick: Tick, error: str, stack: str | None = None) -> None:
        log.warning("the run could not begin", extra={"run_id": tick.run.id, "error": error})
        await self._note([tick.run.id], stack)
        await self._end(tick, failed(tick.schedule, tick.at, error), Stop("refuse", "planner", error))

    # -- ending -----------------------------------------------------------------------------------------------

    async def _settle(self, ticks: Sequence[Tick]) -> int:
        """Runs that have ended move their schedules on; one that never really began has failed after all."""
        if not ticks:
            return 0
        reviews = await self._note([tick.run.id for tick in ticks])
        turns: list[tuple[ScheduleRow, Turn]] = []
        rhythms: dict[int, Rhythm] = {}
        condemned = 0
        for tick in ticks:
            start = reviews[tick.run.id].start
            if tick.run.state == RunState.COMPLETED and (why := refused(start)) is not None:
                turn = failed(tick.schedule, tick.at, why)
                condemned += await self._end(tick, turn, Stop("condemn", "upkeep", why))
                continue
            if tick.run.state == RunState.COMPLETED and (rhythm := await self._rhythm(tick, start)) is not None:
                rhythms[tick.schedule.id] = rhythm
            turns.append((tick.schedule, ended(tick, rhythms.get(tick.schedule.id))))
        turned = await self._timetable.turn_all(turns, "planner")
        for schedule_id in turned.keys() & rhythms.keys():
            # Only by the one who moved the schedule: two who saw the same run must not count it twice.
            await self._keep_rhythm(turned[schedule_id].source_ref, rhythms[schedule_id])
        return condemned + len(turned)

    async def _break_off(self, tick: Tick) -> bool:
        """A run that has not ended: its holder is gone, or it takes too long, or neither after all."""
        schedule, longest = tick.schedule, self._settings.longest_ms
        if (schedule.lease_until or 0) >= tick.at:
            if (schedule.started_at or 0) >= tick.at - longest:
                return False
            error = f"the run took longer than {longest // 1000} seconds"
            await self._note([tick.run.id])
            return await self._stop(tick, failed(schedule, tick.at, error), "fail", "planner", error)
        await self._note([tick.run.id])
        taken = await self._stop(tick, recovered(tick.schedule, tick.at, STALE), "lapse", "upkeep", STALE)
        if taken:
            log.warning("took a schedule back", extra={"schedule": tick.schedule.uid})
            await self._parts.tallies.add({"stale_leases": 1})
        return taken

    async def _stop(self, tick: Tick, turn: Turn, name: str, actor: Actor, error: str) -> bool:
        """End a run that has not ended in the way that fits where it stands, and move the schedule."""
        log.warning("the run is broken off", extra={"run_id": tick.run.id, "error": error})
        queued = tick.run.state == RunState.QUEUED
        return await self._end(tick, turn, Stop("refuse", "planner", error) if queued else Stop(name, actor, error))

    async def _end(self, tick: Tick, turn: Turn, stop: Stop) -> bool:
        mover: Actor = "upkeep" if turn.steps[0].startswith("lapse") else "planner"
        return await self._timetable.stop(tick, turn, stop, mover) is not None

    async def _rhythm(self, tick: Tick, start: Start | None) -> Rhythm | None:
        """How the start page changes, this run included; None where that is not known or not asked for."""
        schedule = tick.schedule
        digest = start_digest(start)
        if schedule.interval_ms is None or not schedule.adaptive or not schedule.source_ref or digest is None:
            return None
        try:
            known = await self._parts.rhythms.get(schedule.source_ref)
        except Unavailable as error:
            log.warning("the rhythm of a source is not known", extra={"error": str(error)})
            return None
        return next_rhythm(known, digest, schedule.interval_ms, tick.at)

    async def _keep_rhythm(self, source_ref: str, rhythm: Rhythm) -> None:
        try:
            await self._parts.rhythms.keep(source_ref, rhythm)
        except Unavailable as error:
            log.warning("the rhythm of a source is not kept", extra={"error": str(error)})

    async def _note(self, run_ids: Sequence[int], stack: str | None = None) -> Mapping[int, Review]:
        """Look at what runs came to, and keep it with them."""
        if not run_ids:
            return {}
        reviews = await self._parts.history.review(run_ids)
        await self._parts.history.note({i: self._figures(i, review.survey, stack) for i, review in reviews.items()})
        return reviews

    def _figures(self, run_id: int, survey: Survey, stack: str | None) -> Note:
        begun = self._begun.pop(run_id, None)
        return Note(
            figures=msgspec.json.encode(survey).decode(),
            cpu_ms=None if begun is None else round((time.process_time() - begun) * 1000),
            memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            stack=stack,
            indexed=survey.items,
        )


def ended(tick: Tick, rhythm: Rhythm | None) -> Turn:
    """What a schedule is after its run has ended."""
    if tick.run.state == RunState.FAILED:
        return failed(tick.schedule, tick.at, tick.run.error or "the run failed")
    if tick.run.state == RunState.CANCELLED:
        return interrupted(tick.schedule, tick.at, tick.run.error or "the run was cancelled")
    return succeeded(tick.schedule, tick.at, rhythm.interval_ms if rhythm else None)


def refused(start: Start | None) -> str | None:
    """Why a run that ended without a failure never really began; None when it did."""
    if start is None or start.state != "skipped":
        return None
    if start.reason == "robots":
        return f"start URL refused by robots.txt: {start.url}"
    if start.reason == "redirected" and not start.pages:
        where = f": {start.error}" if start.error else ""
        return f"start URL {start.url} redirects to another site{where}"
    return None


def start_digest(start: Start | None) -> str | None:
    """The digest of the start page, also where it moved to the same address with or without a slash at its end."""
    if start is None:
        return None
    wanted = start.url.rstrip("/")
    return next((digest for url, digest in start.pages.items() if url.rstrip("/") == wanted), None)


def next_rhythm(known: Rhythm | None, digest: str, interval_ms: int, now: int) -> Rhythm:
    """What is known of a source after one more look at its start page."""
    if known is None or known.digest != digest:
        return Rhythm(digest, now, 0, interval_ms)
    unchanged = known.unchanged + 1
    return Rhythm(digest, known.changed_at, unchanged, stretch_ms(interval_ms, unchanged))
