"""The plans of the runs whose tasks are in hand."""

import msgspec

from longline.model.plan import CrawlPlan
from longline.ports.records.runs import Runs


class Plans:
    """Looks plans up once: a run keeps its plan, and those of the frontier are renewed before anybody works."""

    def __init__(self, runs: Runs, most: int = 1000) -> None:
        self._runs, self._most = runs, most
        self._known: dict[int, CrawlPlan] = {}

    async def get(self, run_id: int) -> CrawlPlan:
        """The plan of a run."""
        if run_id not in self._known:
            row = await self._runs.get(run_id)
            if len(self._known) >= self._most:
                self._known.clear()
            plan = CrawlPlan.read(row.plan) if row else CrawlPlan(())
            self._known[run_id] = msgspec.structs.replace(plan, source_id=row.source_id if row else None)
        return self._known[run_id]
