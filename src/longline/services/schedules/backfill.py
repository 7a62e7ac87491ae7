"""Sources whose documents are thin: which they are, and a crawl for each of them to do better."""

from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.model.search.item import Wordiness
from longline.ports.records.search import ItemStore
from longline.services.schedules.schedules import Schedules


class Backfill:
    """Looks at how much text the documents of each source have, and sends for more."""

    def __init__(self, items: ItemStore, schedules: Schedules) -> None:
        self._items, self._schedules = items, schedules

    async def report(self, least: int) -> list[Wordiness]:
        """Every source that has documents, the one with the shortest first; `least` words are enough for one."""
        return await self._items.wordiness(least)

    async def worst(self, least: int, most: int) -> list[Wordiness]:
        """The sources whose documents have fewer than `least` words on average, so many at most."""
        return [one for one in await self.report(least) if one.average < least][:most]

    async def send(self, source: Wordiness) -> ScheduleRow:
        """Crawl a source once, now."""
        terms = ScheduleSpec(url=source.base_url, source_ref=source.source_ref, source_name=source.name)
        return await self._schedules.make(terms)
