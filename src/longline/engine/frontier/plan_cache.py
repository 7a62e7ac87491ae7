"""The plans of the runs that have leased tasks."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.frontier.standing_runs import StandingRun, StandingRuns
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import NotFound
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind, RunRow
from longline.ports.records.runs.runs import RunStore

MAX_PLANS = 1000
"""Largest number of cached plans."""

LookUp = Callable[[], Awaitable[StandingRun]]
"""A look-up of a standing run and its present plan."""


class PlanCache:
    """A cache of plans: a run keeps its plan, and the plans of standing runs follow their sources.

    Without `standing` and `recrawls` every run keeps the plan of its row, and no source is looked up.
    """

    def __init__(
        self,
        runs: RunStore,
        standing: StandingRuns | None = None,
        max_plans: int = MAX_PLANS,
        recrawls: RecrawlRuns | None = None,
    ) -> None:
        self._runs, self._standing, self._recrawls = runs, standing, recrawls
        self._known: BoundedDict[int, CrawlPlan | LookUp] = BoundedDict(max_plans)

    async def get(self, run_id: int) -> CrawlPlan:
        """Return the plan of a run."""
        known = self._known.get(run_id) or await self._read(run_id)
        if isinstance(known, CrawlPlan):
            return known
        try:
            return (await known()).plan
        except NotFound:  # the source was deleted: its run keeps the plan of its row
            self._known[run_id] = stored = _stored(await self._runs.get(run_id))
            return stored

    async def _read(self, run_id: int) -> CrawlPlan | LookUp:
        row = await self._runs.get(run_id)
        self._known[run_id] = found = self._plan(row)
        return found

    def _plan(self, row: RunRow | None) -> CrawlPlan | LookUp:
        if row is None:
            return _stored(row)
        if self._standing is not None and row.kind.origin is not None:
            return partial(self._standing.get, row.kind, row.seed)
        if self._recrawls is not None and row.kind is RunKind.PRODUCTS and row.source_id is not None:
            return partial(self._recrawls.of, row.source_id)
        if self._recrawls is not None and row.kind is RunKind.IMAGES and row.source_id is not None:
            return partial(self._recrawls.of_images, row.id, row.source_id)
        return _stored(row)


def _stored(row: RunRow | None) -> CrawlPlan:
    return CrawlPlan(()) if row is None else msgspec.structs.replace(CrawlPlan.read(row.plan), source_id=row.source_id)
