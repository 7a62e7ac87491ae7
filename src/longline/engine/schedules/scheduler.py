"""The scheduler: starts schedules that are due, follows their runs to the end, and adopts the runs of other schedulers.

The scheduler that starts a run holds its schedule under a lease and renews it. A scheduler that stops hands its
schedules over, and the lease of a killed scheduler lapses; either way the next scheduler that looks adopts the run,
which goes on as the same run. No leader is needed: every step is guarded by the rows that it changes.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.loop_supervisor import peak_memory_mb
from longline.engine.schedules.orphaned_runs import STALE_LOCK_REASON, accused_runs, given_up, has_lapsed
from longline.engine.sources.crawl_plan import CrawlRules, plan_of
from longline.model.duration import HOUR_MS
from longline.model.errors import LonglineError, Unavailable
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunReview, RunSummary
from longline.model.runs.start_page import StartPage
from longline.model.schedules.schedule import (
    ScheduleTransition,
    failed,
    stretch_ms,
    succeeded,
    without_run,
)
from longline.model.states import RunState, move
from longline.plugins.registry import Registry
from longline.ports.clock import Clock
from longline.ports.records.metrics import CounterStore
from longline.ports.records.runs.runs import RunHistoryStore
from longline.ports.records.schedules import FinishedTick, Launch, PageChanges, PageChangeStore, RunStop, Tick
from longline.ports.sources import SourceLookup

log = logging.getLogger(__name__)

BATCH_SIZE = 100
"""Largest number of done runs that are settled together."""

MAX_CONCURRENT_LOOKUPS = 10
"""Largest number of sources that are looked up at once."""

NO_SOURCE = "job missing required source_id"
SHUTDOWN_REASON = "interrupted by shutdown"
CONTINUED_REASON = "interrupted by shutdown, continued"

STALE_LEASES = "stale_leases"
"""Counter of leases of dead processes that schedulers took back, in all processes and for good."""

FOLLOW_INTERVAL_SECONDS = 1.0
"""Longest pause in seconds between two looks at the runs that a scheduler follows."""

HAND_OVER_TIMEOUT_SECONDS = 10.0
"""Seconds that the last writes of a scheduler may take, even while other parts stop."""


class SchedulerSettings(msgspec.Struct, frozen=True):
    """The limits of one scheduler. Times are milliseconds; `url_ms` is the time that one URL may take."""

    max_running: int = 100
    lease_ms: int = 300_000
    longest_ms: int = HOUR_MS
    url_ms: int = 30_000
    budget: int | None = None
    rules: CrawlRules = CrawlRules()


@dataclass(frozen=True, slots=True)
class SchedulerParts:
    """The collaborators of a scheduler; `owner` holds its leases, and `see` is called with every run that begins."""

    schedule_lifecycle: ScheduleLifecycle
    lifecycle: Lifecycle
    directory: SourceLookup
    parsers: Registry
    history: RunHistoryStore
    page_change_store: PageChangeStore
    counters: CounterStore
    clock: Clock
    owner: int
    see: Callable[[int], None] = lambda _: None


Planned = tuple[CrawlPlan, int | None]
"""The plan of a run and the id of its source."""


class Scheduler:
    """The scheduler that starts, follows and recovers runs of schedules."""

    def __init__(self, parts: SchedulerParts, settings: SchedulerSettings) -> None:
        self._parts, self._settings = parts, settings
        self._schedule_lifecycle = parts.schedule_lifecycle
        self._lookup_slots = asyncio.Semaphore(MAX_CONCURRENT_LOOKUPS)
        self._begun_runs: set[int] = set()
        self._launching: set[int] = set()
        self._unlaunched: dict[int, Tick] = {}
        self._full = False

    async def poll(self) -> int:
        """Start due schedules, as far as there is room; return how many runs were made."""
        s = self._settings
        ticks = await self._schedule_lifecycle.start(self._parts.owner, s.max_running, s.lease_ms)
        self._full = len(ticks) >= min(s.max_running, BATCH_SIZE)
        await self._launch(ticks)
        await self._parts.counters.put("polled_at", self._parts.clock.now())
        if ticks:
            log.info("schedules due", extra={"count": len(ticks)})
        return len(ticks)

    async def follow(self) -> int:
        """Move on schedules with runs that are done or take too long, and adopt lapsed runs; return how many."""
        moved = 0
        await self._launch([])
        while ticks := await self._schedule_lifecycle.look(self._parts.owner, self._settings.longest_ms, BATCH_SIZE):
            done = await self._recover_runs(ticks)
            moved += done
            if not done or len(ticks) < BATCH_SIZE:
                break
        # A run that a person cancels ends without its scheduler.
        await self._store_figures(await self._parts.history.ended(list(self._begun_runs)))
        if moved and self._full:
            await self.poll()
        return moved

    async def renew(self) -> None:
        """Extend the leases of this scheduler."""
        await self._schedule_lifecycle.renew(self._parts.owner, self._settings.lease_ms)

    async def hand_over_runs(self) -> None:
        """Hand over the runs of this scheduler, so that another one adopts them at once."""
        # Repeated while any is held: workers that stop with this scheduler still report, and a run that is done by then
        # is not handed over.
        while held := await self._schedule_lifecycle.held(self._parts.owner):
            await self._settle([tick for tick in held if tick.run.done])
            for run_id in await self._schedule_lifecycle.hand_over(
                [tick for tick in held if not tick.run.done], SHUTDOWN_REASON
            ):
                log.warning(SHUTDOWN_REASON, extra={"run_id": run_id})

    # -- beginning --------------------------------------------------------------------------------------------

    async def _launch(self, ticks: Sequence[Tick]) -> None:
        """Give runs their plan and their seeds; while an engine is unavailable the runs wait for the next look."""
        waiting = self._unlaunched | {tick.run.id: tick for tick in ticks if tick.run.id not in self._launching}
        if not waiting:
            return
        self._unlaunched = {}
        self._launching |= waiting.keys()
        self._begun_runs |= waiting.keys()
        try:
            await self._begin_all(list(waiting.values()))
        except (Unavailable, OSError):
            self._unlaunched |= waiting
            raise
        finally:
            self._launching -= waiting.keys()

    async def _begin_all(self, ticks: Sequence[Tick]) -> None:
        planned = await asyncio.gather(*(self._plan_or_fail(tick) for tick in ticks))
        made = [(tick, plan) for tick, plan in zip(ticks, planned, strict=True) if plan is not None]
        try:
            await self._begin({tick.run.id: plan for tick, plan in made})
        except (Unavailable, OSError):
            raise
        except Exception:
            # One run that an engine refuses must not keep the others from beginning.
            log.exception("runs not started in one transaction, starting them one by one", extra={"count": len(made)})
            for tick, _ in made:
                await self._begin_alone(tick)

    async def _begin_alone(self, tick: Tick) -> None:
        # The plan is made anew: its source may have been deleted since.
        plan = await self._plan_or_fail(tick)
        if plan is None:
            return
        try:
            await self._begin({tick.run.id: plan})
        except (Unavailable, OSError):
            raise
        except Exception as error:
            stack = traceback.format_exc()
            # The failed launch may have been written: the run is queued or running.
            begun = msgspec.structs.replace(tick.run, state=RunState.RUNNING)
            if not await self._fail(tick, repr(error), stack):
                await self._fail(Tick(tick.schedule, begun, tick.at), repr(error), stack)

    async def _begin(self, plans: Mapping[int, Planned]) -> None:
        budget = self._settings.budget
        launches = [Launch(i, plan.text(), plan.seeds[0], source_id, budget) for i, (plan, source_id) in plans.items()]
        await self._schedule_lifecycle.launch(launches, peak_memory_mb())
        for launch in launches:
            self._parts.see(launch.run_id)
        seeds = [seed(url, run_id, plan) for run_id, (plan, _) in plans.items() for url in plan.seeds]
        if seeds:
            await self._parts.lifecycle.admit([task for task, _ in seeds], [host for _, host in seeds])

    async def _plan_or_fail(self, tick: Tick) -> Planned | None:
        """Return the plan of a run; None for a run that has failed before it could begin."""
        if tick.run.state == RunState.RUNNING:
            return CrawlPlan.read(tick.run.plan), tick.run.source_id
        try:
            async with self._lookup_slots:
                return await self._make_plan(tick)
        except LonglineError as error:
            await self._fail_before_start(tick, str(error))
        except Exception as error:
            log.exception("run could not be planned", extra={"schedule": tick.schedule.uid})
            await self._fail_before_start(tick, repr(error), traceback.format_exc())
        return None

    async def _make_plan(self, tick: Tick) -> Planned:
        ref = tick.schedule.source_ref
        source = await self._parts.directory.get(ref) if ref else None
        if source is None:
            raise LonglineError(f"source not found: {ref}" if ref else NO_SOURCE)
        return plan_of(source, tick.schedule.url, self._settings.rules, self._parts.parsers), source.id

    async def _fail_before_start(self, tick: Tick, error: str, stack: str | None = None) -> None:
        log.warning("run not started", extra={"run_id": tick.run.id, "error": error})
        await self._fail(tick, error, stack)

    # -- adopting ---------------------------------------------------------------------------------------------

    async def _recover_runs(self, ticks: Sequence[Tick]) -> int:
        """Settle done runs, fail given-up runs, adopt runs without a holder; return how many."""
        done = await self._settle([tick for tick in ticks if tick.run.done])
        accused = accused_runs(ticks, self._parts.owner, self._settings.url_ms)
        lapsed, queued = [], []
        for tick in ticks:
            if tick.run.done:
                continue
            if (error := given_up(tick, self._settings.longest_ms, accused)) is not None:
                done += await self._give_up(tick, error)
            elif has_lapsed(tick):
                lapsed.append(tick)
            elif tick.run.state == RunState.QUEUED:
                queued.append(tick)
        done += await self._adopt(lapsed, accused)
        # The answer to a start may have been lost with the connection, but not the start.
        await self._launch(queued)
        return done

    async def _adopt(self, ticks: Sequence[Tick], accused: frozenset[int]) -> int:
        """Take over runs that no process holds; a run that was never launched, or has no URL yet, is launched."""
        adopted = await self._schedule_lifecycle.adopt(ticks, self._parts.owner, self._settings.lease_ms, accused)
        stale = {tick.run.id for tick in ticks if tick.schedule.owner is not None}
        for tick in adopted:
            self._begun_runs.add(tick.run.id)
            self._parts.see(tick.run.id)
            log.warning(STALE_LOCK_REASON if tick.run.id in stale else CONTINUED_REASON, extra={"run_id": tick.run.id})
        if cleared := sum(tick.run.id in stale for tick in adopted):
            await self._parts.counters.add({STALE_LEASES: cleared})
        await self._launch([tick for tick in adopted if not (tick.run.ended or tick.run.admitted)])
        return len(adopted)

    async def _give_up(self, tick: Tick, error: str) -> bool:
        log.warning("run abandoned", extra={"run_id": tick.run.id, "error": error})
        done = await self._fail(tick, error)
        if done and error == STALE_LOCK_REASON:
            await self._parts.counters.add({STALE_LEASES: 1})
        return done

    async def _fail(self, tick: Tick, error: str, stack: str | None = None) -> bool:
        """Fail a run that has not ended, and its schedule with it; return False when another process was first."""
        begun = tick.run.state != RunState.QUEUED
        stop = RunStop("fail" if begun else "refuse", "scheduler", error)
        await self._parts.history.note({tick.run.id: RunSummary(memory_mb=peak_memory_mb(), stack=stack)})
        turn = failed(tick.schedule, tick.at, error)
        return await self._schedule_lifecycle.stop(tick, turn, stop, "scheduler") is not None

    # -- ending -----------------------------------------------------------------------------------------------

    async def _settle(self, ticks: Sequence[Tick]) -> int:
        """End done runs, their figures included, and move on their schedules; return how many."""
        if not ticks:
            return 0
        reviews, memory_mb = await self._parts.history.review([tick.run.id for tick in ticks]), peak_memory_mb()
        found_changes: dict[int, PageChanges] = {}
        finished = []
        for tick in ticks:
            review = reviews[tick.run.id]
            end, after = run_end(tick, review)
            if (
                after.run.state == RunState.COMPLETED
                and (page_changes := await self._page_changes(tick, review.start)) is not None
            ):
                found_changes[tick.schedule.id] = page_changes
            summary = RunSummary(review.survey.text(), memory_mb)
            turn = ended(after, found_changes.get(tick.schedule.id))
            finished.append(FinishedTick(tick, end, review.failure, summary, turn))
        moved_schedules = await self._schedule_lifecycle.finish(finished)
        for schedule_id in moved_schedules.keys() & found_changes.keys():
            # Only by the scheduler that moved the schedule: another that saw the same run must not count it twice.
            await self._save_page_changes(moved_schedules[schedule_id].source_ref, found_changes[schedule_id])
        settled = [tick for tick in ticks if tick.schedule.id in moved_schedules]
        self._begun_runs.difference_update(tick.run.id for tick in settled)
        await self._count_stale(settled)
        return len(moved_schedules)

    async def _count_stale(self, settled: Sequence[Tick]) -> None:
        """Count the leases of dead processes with runs that the workers of other processes finished."""
        stale = [tick for tick in settled if has_lapsed(tick) and tick.schedule.owner not in (None, self._parts.owner)]
        for tick in stale:
            log.warning(STALE_LOCK_REASON, extra={"run_id": tick.run.id})
        if stale:
            await self._parts.counters.add({STALE_LEASES: len(stale)})

    async def _page_changes(self, tick: Tick, start: StartPage | None) -> PageChanges | None:
        """Return the page changes of the start page, this run included; None where it is unknown or not wanted."""
        schedule = tick.schedule
        digest = start_digest(start)
        if schedule.interval_ms is None or not schedule.adaptive or not schedule.source_ref or digest is None:
            return None
        try:
            known = await self._parts.page_change_store.get(schedule.source_ref)
        except Unavailable as error:
            log.warning("page-change history not read", extra={"error": str(error)})
            return None
        return next_page_changes(known, digest, schedule.interval_ms, tick.at)

    async def _save_page_changes(self, source_ref: str, page_changes: PageChanges) -> None:
        try:
            await self._parts.page_change_store.save(source_ref, page_changes)
        except Unavailable as error:
            log.warning("page-change history not stored", extra={"error": str(error)})

    async def _store_figures(self, run_ids: Sequence[int]) -> None:
        """Store the figures of runs that have ended."""
        if not run_ids:
            return
        reviews, memory_mb = await self._parts.history.review(run_ids), peak_memory_mb()
        await self._parts.history.note(
            {i: RunSummary(review.survey.text(), memory_mb) for i, review in reviews.items()}
        )
        self._begun_runs.difference_update(run_ids)


def run_end(tick: Tick, review: RunReview) -> tuple[str | None, Tick]:
    """Return the move that ends a done run, None for a run that has ended, and the tick after that move."""
    if tick.run.ended:
        return None, tick
    name = "finish" if review.failure is None else review.failed_by
    run = msgspec.structs.replace(tick.run, state=move("run", name).became, error=review.failure or tick.run.error)
    return name, Tick(tick.schedule, run, tick.at)


def ended(tick: Tick, page_changes: PageChanges | None) -> ScheduleTransition:
    """Return the transition of a schedule after its run has ended."""
    if tick.run.state == RunState.FAILED:
        return failed(tick.schedule, tick.at, tick.run.error or "the run failed")
    if tick.run.state == RunState.CANCELLED:
        return without_run(tick.schedule, tick.at, tick.run.error or "the run was cancelled")
    return succeeded(tick.schedule, tick.at, page_changes.interval_ms if page_changes else None)


def start_digest(start: StartPage | None) -> str | None:
    """Return the digest of the start page, also after a redirect that only adds or removes a slash at the end."""
    if start is None:
        return None
    wanted = start.url.rstrip("/")
    return next((digest for url, digest in start.pages.items() if url.rstrip("/") == wanted), None)


def next_page_changes(known: PageChanges | None, digest: str, interval_ms: int, now: int) -> PageChanges:
    """Return the page changes of a source after one more look at its start page."""
    if known is None or known.digest != digest:
        return PageChanges(digest, now, 0, interval_ms)
    unchanged = known.unchanged + 1
    return PageChanges(digest, known.changed_at, unchanged, stretch_ms(interval_ms, unchanged))
