"""Feeds: where each source's is, and how polling it goes."""

from collections.abc import Callable
from typing import Protocol

from longline.model.feeds.feed_poll import FeedRow
from longline.model.feeds.sitemap import SitemapRow

FeedRule = Callable[[FeedRow, int], FeedRow | None]
"""What becomes of a feed at this time."""


class FeedStore(Protocol):
    """Feeds, one for each source. The rules are in `model/feeds/feed_poll.py`. Each call is one transaction."""

    async def get(self, source_id: int) -> FeedRow | None:
        """The feed of a source."""
        ...

    async def find(self, *, active: bool | None = None, limit: int = 50, after: int = 0) -> list[FeedRow]:
        """Feeds by source, from behind source `after`; the active ones are wanted and do not rest."""
        ...

    async def change(self, source_id: int, rule: FeedRule) -> FeedRow | None:
        """Change a feed by a rule while nobody else does; None, and no change, when the rule says so.

        What is the source's to say of it is changed there. A source that does not exist is `NotFound`.
        """
        ...

    async def claim(self, limit: int, hold_ms: int, *, searching: bool) -> list[FeedRow]:
        """Feeds that are due to be polled, or searched for, of sources that are enabled; nobody else gets them."""
        ...

    async def answered(self, limit: int, *, searching: bool) -> list[FeedRow]:
        """Feeds whose poll, or search, has ended."""
        ...


SitemapRule = Callable[[SitemapRow, int], SitemapRow | None]
"""What becomes of the row at this time."""


class SitemapStore(Protocol):
    """Remembers when the sitemaps of a source are read next. Each call is one transaction."""

    async def change(self, source_id: int, rule: SitemapRule) -> SitemapRow | None:
        """Change a row by a rule while nobody else does; None, and no change, when the rule says so.

        A source that does not exist is `NotFound`.
        """
        ...

    async def claim(self, limit: int, hold_ms: int) -> list[SitemapRow]:
        """Those that are due, of sources that are enabled and want it; nobody else gets them."""
        ...

    async def answered(self, limit: int) -> list[SitemapRow]:
        """Those whose run has ended."""
        ...
