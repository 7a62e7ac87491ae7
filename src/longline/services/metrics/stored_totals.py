"""Totals of sources, proxies and items, for an overview."""

import msgspec

from longline.model.proxies.proxy import ProxyFilter
from longline.model.search.query import Filters, SearchQuery
from longline.model.sources.source import SourceQuery
from longline.ports.records import Records


class PlatformCounts(msgspec.Struct, frozen=True):
    """Numbers of sources and proxies, all and enabled ones, and of items of one kind."""

    sources: int
    enabled_sources: int
    proxies: int
    active_proxies: int
    items: int


class PlatformTotals:
    """The totals of the platform."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def find(self, kind: str) -> PlatformCounts:
        """Return the totals, with those of the items of a kind."""
        records = self._records
        found = await records.search.query(SearchQuery(filters=Filters(kind=kind), limit=1))
        return PlatformCounts(
            await records.sources.count(SourceQuery()),
            await records.sources.count(SourceQuery(enabled=True)),
            await records.proxy_figures.count(),
            await records.proxy_figures.count(ProxyFilter(active=True)),
            found.total,
        )
