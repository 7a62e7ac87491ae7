"""The retention of the pages of recrawls: old pages are deleted, their recrawls stay as history."""

import logging

from longline.ports.clock import Clock
from longline.ports.records.recrawls.recrawls import RecrawlPageStore

log = logging.getLogger(__name__)

BATCH_SIZE = 500
"""Number of recrawls that are looked at in one transaction."""


class RecrawlPageRetention:
    """The loop that deletes pages of recrawls above an age; segments without pages go with the retention of runs."""

    def __init__(self, store: RecrawlPageStore, clock: Clock, age_ms: int) -> None:
        self._store, self._clock, self._age_ms = store, clock, age_ms

    async def once(self) -> int:
        """Delete all old pages; return how many."""
        before, after, deleted = self._clock.now() - self._age_ms, 0, 0
        while True:
            count, last = await self._store.delete_pages(before, after, BATCH_SIZE)
            deleted += count
            if last is None:
                break
            after = last
        if deleted:
            log.info("deleted old pages of recrawls", extra={"pages": deleted})
        return deleted
