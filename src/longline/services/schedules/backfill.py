"""Backfill: sources with short documents, and a new crawl for each of them."""

from collections.abc import Sequence

from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.model.search.item import Wordiness
from longline.ports.records.search import ItemStore
from longline.services.callers.audit_trail import AuditTrail
from longline.services.schedules.schedules import Schedules


class Backfill:
    """Report of the document lengths of each source, and crawls of sources with short documents."""

    def __init__(self, items: ItemStore, schedules: Schedules, audit: AuditTrail | None = None) -> None:
        self._items, self._schedules, self._audit = items, schedules, audit

    async def report(self, least: int) -> list[Wordiness]:
        """Return all sources with documents, shortest average first; a document with `least` words is long enough."""
        return await self._items.wordiness(least)

    async def worst(self, least: int, most: int) -> list[Wordiness]:
        """Return at most `most` sources with documents of fewer than `least` words on average."""
        return [one for one in await self.report(least) if one.average < least][:most]

    async def send_all(self, sources: Sequence[Wordiness]) -> list[ScheduleRow]:
        """Crawl sources once, now."""
        if sources and self._audit is not None:
            await self._audit.note("schedule", {"sources": [source.source_ref for source in sources]})
        return [await self.send(source) for source in sources]

    async def send(self, source: Wordiness) -> ScheduleRow:
        """Crawl a source once, now."""
        terms = ScheduleSpec(url=source.base_url, source_ref=source.source_ref, source_name=source.name)
        return await self._schedules.make(terms)
