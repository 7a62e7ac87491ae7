"""A source with everything that hangs on it: uses, proxies, schedules, feed, and the tasks of its recrawls."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from longline.model.errors import NotFound
from longline.model.feeds.feed_poll import FeedRow
from longline.model.proxies.proxy import MappedProxy
from longline.model.schedules.schedule import ScheduleFilter, ScheduleKind, ScheduleRow
from longline.model.sources.source import SourceQuery, SourceRow
from longline.model.sources.source_uses import SourceUse, decode_uses
from longline.ports.records import Records

MAX_SCHEDULES = 20
MAX_PROXIES = 100


class SourceOverview(msgspec.Struct, frozen=True):
    """A source, the APIs that use it, and its parts; `proxies` are the proxies of its own, `pools` names of pools.

    `recrawls` has the number of submitted URLs at each rest, for a source that has any.
    """

    source: SourceRow
    uses: Sequence[SourceUse]
    pools: Sequence[str]
    proxies: Sequence[MappedProxy]
    schedules: Sequence[ScheduleRow]
    feed: FeedRow | None
    recrawls: Mapping[str, int]


class SourceOverviews:
    """Reader of sources in one look. Each part is read by its key, up to a bound."""

    def __init__(self, records: Records) -> None:
        self._sources, self._schedules, self._feeds = records.sources, records.schedules, records.feeds
        self._proxies, self._recrawls, self._names = records.proxy_figures, records.recrawls, records.source_names

    async def get(self, source_id: int) -> SourceOverview:
        """Return a source in one look; raise `NotFound` for an unknown one."""
        row = await self._sources.get(source_id)
        if row is None:
            raise NotFound("source", source_id)
        uses = sorted(decode_uses(row.uses))
        wanted = ScheduleFilter(ScheduleKind.CRAWL, source_ref=row.public_id)
        return SourceOverview(
            row,
            uses,
            msgspec.json.decode(row.proxy_pools, type=list[str]),
            (await self._proxies.mapped(source_id))[:MAX_PROXIES],
            await self._schedules.find(wanted, limit=MAX_SCHEDULES),
            await self._feeds.get(source_id),
            await self._recrawls.counts(source_id) if SourceUse.PRODUCTS in uses else {},
        )

    async def find(self, query: SourceQuery, limit: int) -> list[SourceRow]:
        """Return matching sources, without their total number; `after` of the query continues a list by name."""
        return await self._sources.find(query, limit=limit)

    async def named(self, refs: Collection[str]) -> dict[str, str]:
        """Return the names of the sources with these public ids, those that exist."""
        return await self._names.of_refs(refs) if refs else {}

    async def rows(self, ids: Collection[int]) -> dict[int, SourceRow]:
        """Return the sources with these ids, those that exist."""
        return await self._sources.get_many(ids) if ids else {}
