"""Backfill: sources with short documents, and a new crawl for each of them."""

from collections.abc import Sequence

from longline.engine.lifecycle.creation import create_schedules
from longline.engine.lifecycle.runs import Call
from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.model.search.item import Wordiness
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore
from longline.ports.records.search import ItemStore
from longline.services.schedules.schedules import PERSON, call_no_one, new_schedule

PASS_THRESHOLD = 0.5
"""Least share of documents with enough words for a source to pass."""


class Backfill:
    """Report of the document lengths of each source, and crawls of sources with short documents."""

    def __init__(self, items: ItemStore, schedules: ScheduleStore, clock: Clock, call: Call = call_no_one) -> None:
        self._items, self._schedules, self._clock, self._call = items, schedules, clock, call

    async def report(self, least: int) -> list[Wordiness]:
        """Return all sources with documents, shortest average first; a document with `least` words is long enough."""
        return await self._items.wordiness(least)

    async def worst(self, least: int, most: int) -> list[Wordiness]:
        """Return at most `most` sources with documents of fewer than `least` words on average."""
        return [one for one in await self.report(least) if one.average < least][:most]

    async def send_all(self, sources: Sequence[Wordiness]) -> list[ScheduleRow]:
        """Crawl sources once, now; the crawls of all of them are ordered in one transaction."""
        specs = [ScheduleSpec(url=one.base_url, source_ref=one.source_ref, source_name=one.name) for one in sources]
        new = [new_schedule(terms, self._clock.now()) for terms in specs]
        made = await create_schedules(self._schedules, new, PERSON)
        await self._call()
        return [row for row in made if row is not None]
