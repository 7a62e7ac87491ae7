"""Figures of proxies for lists and overviews: pools of sources, sums, rates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from longline.model.proxies.proxy import MappedProxy, ProxyFilter, ProxySums
from longline.model.proxies.proxy_health import success_rate
from longline.ports.records.proxies import ProxyFigureStore

PoolSort = Literal["priority", "last_used_at", "success_rate", "success_count", "failure_count", "avg_ms", "created_at"]


class PoolFigures(msgspec.Struct, frozen=True):
    """The sums of a source's own pool, and the number of its proxies by country."""

    sums: ProxySums
    countries: dict[str, int]


class ProxyFigures:
    """Figures of proxies."""

    def __init__(self, records: ProxyFigureStore) -> None:
        self._records = records

    async def count(self, wanted: ProxyFilter | None = None) -> int:
        """Return the number of proxies."""
        return await self._records.count(wanted)

    async def pool(
        self, source_id: int, *, active: bool | None = None, sort: PoolSort | None = None, falling: bool = False
    ) -> list[MappedProxy]:
        """Return a source's own pool; in no given order, best priority first, then the least recently used."""
        found = await self._records.mapped(source_id, active=active)
        return found if sort is None else sorted(found, key=lambda row: _place(row, sort), reverse=falling)

    async def pool_figures(self, source_id: int) -> PoolFigures:
        """Return the sums of a source's own pool."""
        sums, members = await self.sums([source_id]), await self._records.mapped(source_id)
        return PoolFigures(sums[source_id], dict(Counter(row.country or "unknown" for row in members)))

    async def sums(self, sources: Sequence[int]) -> Mapping[int, ProxySums]:
        """Return the sums of the pool of each source, of zeros for a source without one."""
        found = await self._records.sums(sources)
        return {source_id: found.get(source_id) or _no_sums(source_id) for source_id in sources}

    async def by_source(self, proxies: Sequence[int], limit: int) -> dict[int, list[MappedProxy]]:
        """Return the figures of proxies at the sources that they are assigned to, of `limit` sources at most."""
        found = await self._records.sources_of(proxies)
        sources = sorted({source_id for ids in found.values() for source_id in ids})[:limit]
        shown = set(sources)
        pairs = [(source_id, proxy_id) for proxy_id, ids in found.items() for source_id in ids if source_id in shown]
        by_source: dict[int, list[MappedProxy]] = {source_id: [] for source_id in sources}
        for one in await self._records.mapped_pairs(pairs):
            by_source[one.source_id].append(one)
        return by_source

    async def sources_using(self, proxies: Sequence[int]) -> Mapping[int, int]:
        """Return the number of sources that each proxy is assigned to."""
        found = await self._records.sources_of(proxies)
        return {proxy_id: len(found.get(proxy_id, ())) for proxy_id in proxies}


def _no_sums(source_id: int) -> ProxySums:
    return ProxySums(source_id=source_id, proxies=0, active=0, failing=0, successes=0, failures=0, avg_ms=None)


def _place(row: MappedProxy, sort: PoolSort) -> tuple[Any, ...]:
    """Return the sort key of a mapping; values that are not known yet come first."""
    value = success_rate(row.success_count, row.total_failures) if sort == "success_rate" else getattr(row, sort)
    return value is not None, value or 0, row.proxy_id
