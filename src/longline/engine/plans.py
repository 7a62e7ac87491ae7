"""The plans of the runs whose tasks are in hand."""

import msgspec

from longline.model.plan import CrawlPlan
from longline.ports.clock import Clock
from longline.ports.records.runs import Runs

KNOWN_SECONDS = 60.0
"""How long a plan is believed: those of the frontier change with their sources."""


class Plans:
    """Looks plans up now and then, not for every task."""

    def __init__(self, runs: Runs, clock: Clock, most: int = 1000) -> None:
        self._runs, self._clock, self._most = runs, clock, most
        self._known: dict[int, CrawlPlan] = {}
        self._forget_at = 0.0

    async def get(self, run_id: int) -> CrawlPlan:
        """The plan of a run."""
        now = self._clock.monotonic()
        if now >= self._forget_at:
            self._known.clear()
            self._forget_at = now + KNOWN_SECONDS
        if run_id not in self._known:
            row = await self._runs.get(run_id)
            if len(self._known) >= self._most:
                self._known.clear()
            plan = CrawlPlan.read(row.plan) if row else CrawlPlan(())
            self._known[run_id] = msgspec.structs.replace(plan, source_id=row.source_id if row else None)
        return self._known[run_id]
