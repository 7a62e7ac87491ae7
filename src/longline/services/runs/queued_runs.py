"""Runs that wait for their time: queue one, pause and resume a kind."""

import msgspec

from longline.engine.lifecycle.creation import create_run
from longline.model.errors import BadInput
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.states import Actor
from longline.ports.clock import Clock
from longline.ports.records.runs.runs import DueRunStore, RunStore


class RunToQueue(msgspec.Struct, frozen=True):
    """A run to be queued; without a `due` time, or with one in the past, it starts at the next look."""

    kind: RunKind
    plan: CrawlPlan
    source_id: int | None = None
    due: int | None = None
    budget: int | None = None


class QueuedRuns:
    """The queue of runs without a schedule, and the kinds of runs that are paused."""

    def __init__(self, runs: RunStore, due_runs: DueRunStore, clock: Clock) -> None:
        self._runs, self._due_runs, self._clock = runs, due_runs, clock

    async def add(self, wanted: RunToQueue, actor: Actor = "person") -> RunRow:
        """Queue a run; it starts once, when it is due, its source is enabled and its kind is not paused."""
        if not wanted.plan.seeds:
            raise BadInput("a run needs a URL to start from")
        now = self._clock.now()
        run = NewRun(
            new_id(),
            wanted.kind,
            wanted.plan.text(),
            wanted.plan.seeds[0],
            source_id=wanted.source_id,
            budget=wanted.budget,
            due=now if wanted.due is None else max(wanted.due, now),
        )
        return await create_run(self._runs, run, actor)

    async def pause(self, kind: RunKind) -> bool:
        """Start no queued run of a kind; runs that have started go on. Return False for a kind that is paused."""
        return await self._due_runs.pause_kind(kind)

    async def resume(self, kind: RunKind) -> bool:
        """Start due runs of a kind again; return False for a kind that is not paused."""
        return await self._due_runs.resume_kind(kind)

    async def paused(self) -> list[RunKind]:
        """Return the kinds that are paused."""
        return await self._due_runs.paused_kinds()
