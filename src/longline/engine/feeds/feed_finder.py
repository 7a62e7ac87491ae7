"""Searches for the feeds of sources that name none.

A search reads the source's own page, then the feeds that the page names, then the usual feed URLs; each step is a run
of its own. The first document that is a feed with an entry wins.
"""

import logging
from functools import partial

from longline.engine.feeds.feed_poller import (
    BATCH_SIZE,
    MAX_CONCURRENT_READS,
    FeedParts,
    guarded,
    polling,
    side_by_side,
)
from longline.engine.frontier.seeding import RunToMake
from longline.html.parse_cost import TooComplex
from longline.model.feeds.feed import NotAFeed
from longline.model.feeds.feed_poll import CLAIM_MS, SEARCH_INTERVAL_MS, FeedRow, asked, dropped, found
from longline.model.frontier.task import TaskRow
from longline.model.runs.run import RunKind
from longline.model.states import TaskState
from longline.model.urls.link_resolution import join_all
from longline.plugins import Page
from longline.plugins.feed_links import feed_links
from longline.ports.records.sources import SourceStore

log = logging.getLogger(__name__)

HOME, NAMED, USUAL = "home", "named", "usual"

FEED_PATHS = ("/feed", "/rss", "/feed.xml", "/rss.xml", "/atom.xml", "/index.xml")
"""Paths at which sites usually have their feed."""


class FeedFinder:
    """A finder that searches for feeds step by step, and again after `again_ms` where none was found."""

    def __init__(self, parts: FeedParts, sources: SourceStore, again_ms: int = SEARCH_INTERVAL_MS) -> None:
        self._parts, self._sources, self._again_ms = parts, sources, again_ms

    async def once(self) -> int:
        """Continue the searches with a finished step, then begin the due ones; return the number of both."""
        return await self.further() + await self.begin()

    async def further(self) -> int:
        """Continue the searches with a finished step; return their number."""
        ended = await self._parts.feeds.answered(BATCH_SIZE, searching=True)
        await side_by_side([guarded(feed.source_id, self._further(feed)) for feed in ended], MAX_CONCURRENT_READS)
        return len(ended)

    async def begin(self) -> int:
        """Begin the searches that are due; return their number."""
        due = await self._parts.feeds.claim(BATCH_SIZE, CLAIM_MS, searching=True)
        for feed in due:
            await guarded(feed.source_id, self._begin(feed))
        return len(due)

    async def _begin(self, feed: FeedRow) -> None:
        source = await self._sources.get(feed.source_id)
        if source is not None:
            await self._ask(feed, HOME, [source.base_url])

    async def _further(self, feed: FeedRow) -> None:
        source = await self._sources.get(feed.source_id)
        home = source.base_url if source else ""
        tasks = await self._parts.seeder.tasks_of(feed.run_id or 0)
        if feed.stage == HOME:
            named = await self._named(tasks)
            await self._next(feed, NAMED if named else USUAL, named or usual_feeds(home))
        elif (url := await self._first(tasks)) is not None:
            log.info("feed found", extra={"source": feed.source_id, "feed": url})
            await self._end(feed, url)
        elif feed.stage == NAMED:
            await self._next(feed, USUAL, usual_feeds(home))
        else:
            await self._end(feed, None)

    async def _next(self, feed: FeedRow, stage: str, urls: list[str]) -> None:
        free = await self._parts.feeds.change(feed.source_id, partial(dropped, run_id=feed.run_id or 0))
        if free is not None:
            await self._ask(free, stage, urls)

    async def _ask(self, feed: FeedRow, stage: str, urls: list[str]) -> None:
        run_id = await self._parts.seeder.ask(
            RunToMake(RunKind.FEED_SEARCH, polling(self._parts.plan, urls), feed.source_id)
        )
        await self._parts.feeds.change(feed.source_id, partial(asked, run_id=run_id, stage=stage))

    async def _end(self, feed: FeedRow, url: str | None) -> None:
        rule = partial(found, run_id=feed.run_id or 0, url=url, again=self._again_ms)
        await self._parts.feeds.change(feed.source_id, rule)

    async def _named(self, tasks: list[TaskRow]) -> list[str]:
        for task in tasks:
            page = await self._page(task)
            try:
                return feed_links(page) if page else []
            except TooComplex:
                return []
        return []

    async def _first(self, tasks: list[TaskRow]) -> str | None:
        for task in tasks:
            page = await self._page(task)
            if page is not None and await self._is_feed(page):
                return task.url
        return None

    async def _is_feed(self, page: Page) -> bool:
        try:
            return bool(await self._parts.read(page))
        except NotAFeed:
            return False

    async def _page(self, task: TaskRow) -> Page | None:
        return await self._parts.find(task.id) if task.state == TaskState.COMPLETED else None


def usual_feeds(site: str) -> list[str]:
    """Return the URLs at which sites usually have their feed."""
    return join_all(site, FEED_PATHS)
