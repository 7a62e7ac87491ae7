"""Sitemaps of sources: pages that changed lately become tasks.

As with feeds, every request is a run: first the sitemap that a source names, or the usual places, then the sitemaps of
an index, level by level.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from longline.engine.feeds.feed_poller import BATCH_SIZE, guarded, polling, side_by_side
from longline.engine.frontier.seeding import MAX_TASKS, RunToMake, Seeder
from longline.engine.sources.crawl_plan import hosts_with_and_without_www
from longline.model.feeds.feed_poll import CLAIM_MS, PLACE_PRIORITY
from longline.model.feeds.sitemap import (
    DEFAULT_PATHS,
    MAX_BYTES,
    MAX_LEVELS,
    NEWS_WINDOW_MS,
    NotASitemap,
    Sitemap,
    SitemapRow,
    answered,
    asked,
)
from longline.model.frontier.task import TaskRow
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind
from longline.model.sources.source import SourceRow
from longline.model.states import TaskState
from longline.model.urls.link_resolution import join_all
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import BadUrl, parse
from longline.plugins import Page
from longline.ports.clock import Clock
from longline.ports.records.feeds import SitemapStore
from longline.ports.records.sources import SourceStore

log = logging.getLogger(__name__)

URL_BATCH_SIZE = 1000
"""Largest number of places admitted in one transaction."""

MAX_CONCURRENT_READS = 2
"""Largest number of sources read at once: a sitemap may have fifty megabytes."""

Read = Callable[[Page], Awaitable[Sitemap]]
"""Function that returns the sitemap in a page, or raises `NotASitemap`."""


@dataclass(frozen=True, slots=True)
class SitemapParts:
    """The parts of the sitemap reader; `find` reads a task's page from the archive."""

    sitemaps: SitemapStore
    sources: SourceStore
    seeder: Seeder
    find: Callable[[int], Awaitable[Page | None]]
    read: Read
    plan: CrawlPlan
    clock: Clock


class SitemapReader:
    """A reader that requests sitemaps and processes them."""

    def __init__(self, parts: SitemapParts) -> None:
        self._parts = parts

    async def once(self) -> int:
        """Process the fetched sitemaps, then request the due ones; return the number of sources of both."""
        return await self.take() + await self.begin()

    async def take(self) -> int:
        """Process the fetched sitemaps; return the number of sources."""
        ended = await self._parts.sitemaps.answered(BATCH_SIZE)
        await side_by_side([guarded(row.source_id, self._take(row)) for row in ended], MAX_CONCURRENT_READS)
        return len(ended)

    async def begin(self) -> int:
        """Request the sitemaps that are due; return the number of sources."""
        due = await self._parts.sitemaps.claim(BATCH_SIZE, CLAIM_MS)
        for row in due:
            await guarded(row.source_id, self._begin(row))
        return len(due)

    async def _begin(self, row: SitemapRow) -> None:
        source = await self._parts.sources.get(row.source_id)
        if source is not None:
            await self._ask(row, 1, _first(source))

    async def _ask(self, row: SitemapRow, level: int, urls: Sequence[str]) -> None:
        plan = polling(self._parts.plan, urls)
        plan = msgspec.structs.replace(plan, fetch=msgspec.structs.replace(plan.fetch, max_body_bytes=MAX_BYTES))
        run_id = await self._parts.seeder.ask(RunToMake(RunKind.SITEMAP, plan, row.source_id))
        await self._parts.sitemaps.change(row.source_id, partial(asked, run_id=run_id, level=level, after=row.run_id))

    async def _take(self, row: SitemapRow) -> None:
        source, tasks = await self._parts.sources.get(row.source_id), await self._parts.seeder.tasks_of(row.run_id or 0)
        found = await self._found(tasks)
        cutoff = self._parts.clock.now() - NEWS_WINDOW_MS
        pages = [url for sitemap in found if not sitemap.index for url in sitemap.since(cutoff)]
        deeper = [url for sitemap in found if sitemap.index for url in sitemap.since(cutoff)]
        if source is not None:
            await self._feed(source, pages)
        # With the first level and this one, all that was read is known: no index is deeper than two levels.
        deeper = _unread(deeper, [*(_first(source) if source else ()), *(task.url for task in tasks)])
        if deeper and row.level < MAX_LEVELS:
            await self._ask(row, row.level + 1, deeper[:MAX_TASKS])
        else:
            await self._parts.sitemaps.change(row.source_id, partial(answered, run_id=row.run_id))

    async def _found(self, tasks: Sequence[TaskRow]) -> list[Sitemap]:
        """Return the sitemaps of a run, unchanged ones too: the sitemaps of an unchanged index may have changed."""
        found = []
        for task in tasks:
            page = await self._parts.find(task.id) if task.state == TaskState.COMPLETED else None
            if page is None:
                continue
            try:
                found.append(await self._parts.read(page))
            except NotASitemap as error:
                log.warning("not a sitemap", extra={"sitemap": task.url, "error": str(error)})
        return found

    async def _feed(self, source: SourceRow, urls: Sequence[str]) -> None:
        """Admit the URLs of sitemaps that are on the source's own site."""
        hosts, new = hosts_with_and_without_www(parse(source.base_url, credentials=True)), 0
        for start in range(0, len(urls), URL_BATCH_SIZE):
            piece = urls[start : start + URL_BATCH_SIZE]
            new += await self._parts.seeder.feed(RunKind.STANDING_SITEMAP, source.id, piece, PLACE_PRIORITY, hosts)
        log.info("sitemaps read", extra={"source": source.id, "places": len(urls), "new": new})


def _first(source: SourceRow) -> list[str]:
    """Return the sitemaps that a source names, or the usual places."""
    where = msgspec.json.decode(source.crawl).get("sitemap_url")
    return join_all(source.base_url, [where] if where else DEFAULT_PATHS)


def _unread(urls: Sequence[str], read: Sequence[str]) -> list[str]:
    """Return the URLs without those that were read: an index may list itself, or an index above."""
    known = {_key(url) for url in read}
    return [url for url in urls if _key(url) not in known]


def _key(url: str) -> tuple[str, bytes]:
    try:
        found = parse(url)
    except BadUrl:
        return "", url.encode()
    return found.host, dedupe_key(found.href)
