"""The pruner: forgets old runs of schedules."""

import logging

from longline.ports.clock import Clock
from longline.ports.records.runs import History

log = logging.getLogger(__name__)

KEEP = 100
KEEP_MS = 30 * 86_400_000


class Pruner:
    """Keeps of every schedule the newest runs, and of those the younger ones."""

    def __init__(self, history: History, clock: Clock) -> None:
        self._history, self._clock = history, clock

    async def once(self) -> int:
        """Forget whatever is too old or too many; how many runs."""
        total = 0
        while pruned := await self._history.prune(KEEP, self._clock.now() - KEEP_MS):
            total += pruned
        if total:
            log.info("forgot old runs", extra={"count": total})
        return total
