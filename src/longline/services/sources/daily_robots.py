"""The stored robots.txt of sources with recrawls: fetched when it is missing, and again after a day."""

import asyncio
import logging

from longline.model.bounded_dict import BoundedDict
from longline.model.duration import DAY_MS
from longline.model.errors import LonglineError, Unavailable
from longline.ports.clock import Clock
from longline.ports.records.recrawls.recrawls import RecrawlStore
from longline.services.sources.source_robots import SourceRobots

log = logging.getLogger(__name__)

BATCH_SIZE = 20
MAX_FAILURES = 10_000
RETRY_SECONDS = 3600.0
"""Pause after a robots.txt that could not be fetched."""


class DailyRobots:
    """The refresher of these files; a longer Crawl-delay becomes the delay of its source."""

    def __init__(self, recrawls: RecrawlStore, robots: SourceRobots, clock: Clock) -> None:
        self._recrawls, self._robots, self._clock = recrawls, robots, clock
        self._failed: BoundedDict[int, float] = BoundedDict(MAX_FAILURES)

    async def once(self) -> int:
        """Fetch every robots.txt that is due; return how many were stored."""
        before, after, count = self._clock.now() - DAY_MS, 0, 0
        while batch := await self._recrawls.sources_with_old_robots(before, after, BATCH_SIZE):
            count += sum(await asyncio.gather(*map(self._refresh, batch)))
            after = batch[-1]
        return count

    async def _refresh(self, source_id: int) -> bool:
        """Fetch one robots.txt, unless it failed a short time ago; return whether it was stored."""
        if self._clock.monotonic() < self._failed.get(source_id, 0.0):
            return False
        try:
            await self._robots.refresh(source_id)
        except Unavailable:
            raise
        except LonglineError as error:
            self._failed[source_id] = self._clock.monotonic() + RETRY_SECONDS
            log.info("robots.txt not refreshed", extra={"source": source_id, "reason": str(error)})
            return False
        return True
