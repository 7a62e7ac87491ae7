"""The plans of the runs that have tasks in hand."""

import msgspec

from longline.engine.frontier.standing_runs import StandingRuns
from longline.model.frontier.standing_frontier import is_standing
from longline.model.runs.plan import CrawlPlan
from longline.model.runs.run import RunRow
from longline.ports.records.runs import RunStore


class PlanCache:
    """A cache of plans: a run keeps its plan, and the plans of standing runs follow their sources."""

    def __init__(self, runs: RunStore, standing: StandingRuns, most: int = 1000) -> None:
        self._runs, self._standing, self._most = runs, standing, most
        self._known: dict[int, CrawlPlan | RunRow] = {}

    async def get(self, run_id: int) -> CrawlPlan:
        """Return the plan of a run."""
        known = self._known.get(run_id) or await self._look_up(run_id)
        if isinstance(known, CrawlPlan):
            return known
        return (await self._standing.get(known.kind, known.seed)).plan

    async def _look_up(self, run_id: int) -> CrawlPlan | RunRow:
        row = await self._runs.get(run_id)
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[run_id] = found = row if row and is_standing(row.kind) else _plan(row)
        return found


def _plan(row: RunRow | None) -> CrawlPlan:
    plan = CrawlPlan.read(row.plan) if row else CrawlPlan(())
    return msgspec.structs.replace(plan, source_id=row.source_id if row else None)
