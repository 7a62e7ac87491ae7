"""Sitemaps: how reading those of each source goes."""

from collections.abc import Callable
from typing import Protocol

from longline.model.sitemap import SitemapRow

SitemapRule = Callable[[SitemapRow, int], SitemapRow | None]
"""What becomes of the row at this time."""


class Sitemaps(Protocol):
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
