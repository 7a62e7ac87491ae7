"""Feeds: which source has one, how polling it goes, and what somebody wants of it."""

from functools import partial

from longline.model.errors import BadInput, NotFound
from longline.model.poll import POLL_EVERY, FeedRow, disabled, enabled, placed
from longline.model.url import parse
from longline.ports.records.feeds import Feeds as Records

LONGEST_LIST = 500
"""No list is longer, whatever is asked for."""


class Feeds:
    """What one may ask of feeds; a source has one at most."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def get(self, source_id: int) -> FeedRow:
        """The feed of a source."""
        feed = await self._records.get(source_id)
        if feed is None:
            raise NotFound(f"the source {source_id} has no feed")
        return feed

    async def find(self, *, active: bool | None = None, limit: int = 50, after: int = 0) -> list[FeedRow]:
        """Feeds by source; active ones are polled when they come due, resting ones due for a trial included."""
        return await self._records.find(active=active, limit=max(0, min(limit, LONGEST_LIST)), after=after)

    async def put(
        self, source_id: int, url: str | None, *, active: bool = True, every_ms: int = POLL_EVERY
    ) -> FeedRow | None:
        """Say where a source's feed is and how often to look; None lets it be searched for."""
        if every_ms <= 0:
            raise BadInput("the time between two polls must be more than nothing")
        where = parse(url).href if url else None
        return await self._records.change(source_id, partial(placed, url=where, active=active, every_ms=every_ms))

    async def disable(self, source_id: int, reason: str) -> FeedRow | None:
        """Let a feed rest; after a while it gets one trial."""
        await self.get(source_id)
        return await self._records.change(source_id, partial(disabled, reason=reason))

    async def enable(self, source_id: int) -> FeedRow | None:
        """Forget a feed's failures and poll it at once."""
        await self.get(source_id)
        return await self._records.change(source_id, enabled)
