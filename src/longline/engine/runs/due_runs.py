"""The starter of queued runs: each run starts once, when it is due, its source is enabled and its kind not paused."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

import msgspec

from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.errors import BadInput, IllegalMove
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import DueRun, RunKind
from longline.ports.records.runs.runs import DueRunStore, RunStore

log = logging.getLogger(__name__)

BATCH_SIZE = 100


class RunPlanner(Protocol):
    """A planner of the runs of one kind, whose plans are made when they start."""

    async def plan(self, run: DueRun) -> CrawlPlan:
        """Return the plan of a run; raise `BadInput` for a run that cannot start."""


class PlannedKind(NamedTuple):
    """A kind of runs whose plans are made at the start; `see` is called with each run that was started."""

    planner: RunPlanner
    see: Callable[[DueRun], Awaitable[None]] | None = None


class DueRunStarter:
    """The starter of runs that are due; several processes may start runs, each run is started once.

    `planned` are the kinds whose plans are made at the start; other runs start with the plans that they were queued
    with.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        due_runs: DueRunStore,
        runs: RunStore | None = None,
        planned: Mapping[RunKind, PlannedKind] | None = None,
    ) -> None:
        self._lifecycle, self._due_runs = lifecycle, due_runs
        self._runs, self._planned = runs, planned or {}

    async def once(self) -> int:
        """Start every run that is due; return how many."""
        started, moved = 0, BATCH_SIZE
        while moved == BATCH_SIZE:
            moves = [await self._start(run) for run in await self._due_runs.find(BATCH_SIZE)]
            moved = len([one for one in moves if one is not None])
            started += sum(one is True for one in moves)
        return started

    async def _start(self, run: DueRun) -> bool | None:
        """Start one run; return False after a refusal, and None when another process was first or the run may wait."""
        try:
            plan = await self._plan(run)
            if not plan.seeds:
                raise BadInput("the plan of the run has no seed")
            seeds = [seed(url, run.id, plan) for url in plan.seeds]
            started = await self._lifecycle.runs.start(run.id, seeds, "due") or None
        except msgspec.DecodeError as error:
            return await self._refuse(run, f"the plan of the run is not valid: {error}")
        except BadInput as error:
            return await self._refuse(run, str(error))
        kind = self._planned.get(run.kind)
        if started and kind is not None and kind.see is not None:
            await kind.see(run)
        return started

    async def _plan(self, run: DueRun) -> CrawlPlan:
        """Return the plan of a run, and store the plan that its planner makes."""
        if (kind := self._planned.get(run.kind)) is None or self._runs is None:
            return CrawlPlan.read(run.plan)
        plan = await kind.planner.plan(run)
        await self._runs.revise(run.id, plan.text(), None)
        return plan

    async def _refuse(self, run: DueRun, error: str) -> bool | None:
        """Fail a run that can never start: its plan is invalid, or admits no URL."""
        log.warning("due run refused", extra={"run_id": run.id, "error": error})
        try:
            await self._lifecycle.move(MoveRequest("run", run.id, "refuse", "scheduler", reason=error, error=error))
        except IllegalMove:
            return None
        return False
