"""The pruner: deletes old runs of schedules, and old decisions about candidates."""

import logging

from longline.ports.clock import Clock
from longline.ports.records.discovery import CandidateStore
from longline.ports.records.runs import RunHistoryStore

log = logging.getLogger(__name__)

KEEP = 100
KEEP_MS = 30 * 86_400_000


class RunPruner:
    """The pruner: keeps the newest 100 runs of each schedule, and no run or decision older than 30 days."""

    def __init__(self, history: RunHistoryStore, candidates: CandidateStore, clock: Clock) -> None:
        self._history, self._candidates, self._clock = history, candidates, clock

    async def once(self) -> int:
        """Delete runs that are too old or too many, and old decisions; return how many runs."""
        before, total = self._clock.now() - KEEP_MS, 0
        while await self._candidates.forget(before):
            pass
        while pruned := await self._history.prune(KEEP, before):
            total += pruned
        if total:
            log.info("deleted old runs", extra={"count": total})
        return total
