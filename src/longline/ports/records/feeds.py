"""Feeds and sitemaps of sources, and the state of polling them."""

from collections.abc import Callable
from typing import Protocol

from longline.model.feeds.feed_poll import FeedRow
from longline.model.feeds.sitemap import SitemapRow

FeedRule = Callable[[FeedRow, int], FeedRow | None]
"""A function of a feed and the engine's time that returns the changed feed, or None for no change."""


class FeedStore(Protocol):
    """Feeds, one for each source. The rules are in `model/feeds/feed_poll.py`. Each call is one transaction."""

    async def get(self, source_id: int) -> FeedRow | None:
        """Return the feed of a source."""
        ...

    async def find(self, *, active: bool | None = None, limit: int = 50, after: int = 0) -> list[FeedRow]:
        """Return feeds by source, from behind source `after`; active feeds are enabled and not paused."""
        ...

    async def change(self, source_id: int, rule: FeedRule) -> FeedRow | None:
        """Change a feed by a rule under a lock; return None, without a change, when the rule returns None.

        Fields that belong to the source are changed in the source's row. Raises `NotFound` for an unknown source.
        """
        ...

    async def claim(self, limit: int, hold_ms: int, *, searching: bool) -> list[FeedRow]:
        """Claim due feeds of enabled sources, to poll or to search; no other process gets them for `hold_ms`."""
        ...

    async def answered(self, limit: int, *, searching: bool) -> list[FeedRow]:
        """Return feeds with a finished poll, or search."""
        ...


SitemapRule = Callable[[SitemapRow, int], SitemapRow | None]
"""A function of a row and the engine's time that returns the changed row, or None for no change."""


class SitemapStore(Protocol):
    """Times at which the sitemaps of each source are read next. Each call is one transaction."""

    async def change(self, source_id: int, rule: SitemapRule) -> SitemapRow | None:
        """Change a row by a rule under a lock; return None, without a change, when the rule returns None.

        Raises `NotFound` for an unknown source.
        """
        ...

    async def claim(self, limit: int, hold_ms: int) -> list[SitemapRow]:
        """Claim due rows of enabled sources that want sitemaps; no other process gets them for `hold_ms`."""
        ...

    async def answered(self, limit: int) -> list[SitemapRow]:
        """Return rows with a finished run."""
        ...
