"""Lookup of sources: our own table, and a cache before another lookup."""

from longline.engine.sources.crawl_plan import as_crawled
from longline.model.sources.source import CrawlSource, SourceRow
from longline.ports.records.sources import SourceStore
from longline.ports.sources import SourceLookup

PAGE_SIZE = 500


class LocalSources:
    """Our own table of sources."""

    def __init__(self, sources: SourceStore) -> None:
        self._sources = sources

    async def get(self, ref: str) -> CrawlSource | None:
        row = await self._sources.get_by_ref(ref)
        return as_crawled(row) if row else None

    async def ref_of(self, source_id: int) -> str:
        row = await self._sources.get(source_id)
        return row.public_id if row else str(source_id)

    async def all(self) -> list[CrawlSource]:
        found: list[SourceRow] = []
        while page := await self._sources.find(limit=PAGE_SIZE, offset=len(found)):
            found += page
        return [as_crawled(row) for row in found]


class CachedSources:
    """The stored sources, for frequent lookups; only a source that is not stored is looked up elsewhere.

    `RemoteSourceSync` keeps the stored sources up to date.
    """

    def __init__(self, own: LocalSources, elsewhere: SourceLookup) -> None:
        self._own, self._elsewhere = own, elsewhere

    async def get(self, ref: str) -> CrawlSource | None:
        return await self._own.get(ref) or await self._elsewhere.get(ref)

    async def ref_of(self, source_id: int) -> str:
        return await self._own.ref_of(source_id)

    async def all(self) -> list[CrawlSource]:
        return await self._elsewhere.all()
