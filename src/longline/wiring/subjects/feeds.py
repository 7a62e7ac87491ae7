"""The chores around feeds, from the parts of the platform."""

import asyncio
from collections.abc import Awaitable, Callable

from longline.engine.archive.page_reader import PageReader
from longline.engine.feeds import sitemap_reader as mapper
from longline.engine.feeds.document_reader import Reader
from longline.engine.feeds.feed_finder import FeedFinder
from longline.engine.feeds.feed_poller import LOOK_INTERVAL_SECONDS, FeedParts, FeedPoller
from longline.engine.feeds.sitemap_reader import SitemapReader
from longline.engine.frontier.seeding import Seeder
from longline.engine.loop_supervisor import Loop, cancel_on_stop, chore, run_loops
from longline.engine.sources.remote_sync import RemoteSourceSync
from longline.model.feeds.feed_poll import MAX_FEED_REDIRECTS
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Retries
from longline.wiring.platform import Platform
from longline.wiring.subjects.sources import standing_runs

Once = Callable[[], Awaitable[object]]


def feed_loop(platform: Platform) -> Loop:
    """Return the loop that polls feeds."""
    poller = FeedPoller(feed_parts(platform))
    return _round(poller.take, poller.begin, platform.settings.feed_poll)


def feed_search_loop(platform: Platform) -> Loop:
    """Return the loop that searches the feeds of sources that name none."""
    s = platform.settings
    finder = FeedFinder(feed_parts(platform), platform.records.sources, round(s.feed_search_again * 1000))
    return _round(finder.further, finder.begin, s.feed_search)


def sitemap_loop(platform: Platform) -> Loop:
    """Return the loop that reads sitemaps."""
    reader = SitemapReader(sitemap_parts(platform))
    return _round(reader.take, reader.begin, LOOK_INTERVAL_SECONDS)


def remote_source_loop(platform: Platform) -> Loop:
    """Return the loop that fetches remote sources, whatever else is on: single URLs depend on these sources too."""
    s, records = platform.settings, platform.records
    assert platform.source_manager is not None
    sync = RemoteSourceSync(platform.source_manager, records.remote_sources, records.schema.now, feeds=s.feeds)
    # The stop does not wait for the other service: unsent changes are sent by the next process.
    return cancel_on_stop(_round(sync.push, sync.pull, s.sources_every))


def _round(take: Once, begin: Once, every: float) -> Loop:
    """Return a loop that begins due work at the operator's interval, and processes results as soon as it can.

    The stop does not wait for a document that is being read: the document is read again after the next start.
    """

    async def loop(stop: asyncio.Event) -> None:
        taking = cancel_on_stop(chore(take, LOOK_INTERVAL_SECONDS))
        await run_loops({"take": taking, "begin": chore(begin, every)}, stop)

    return loop


def sitemap_parts(platform: Platform) -> mapper.SitemapParts:
    """Return the parts of the sitemap reader."""
    records, feeds = platform.records, feed_parts(platform)
    return mapper.SitemapParts(
        sitemaps=records.sitemaps,
        sources=records.sources,
        seeder=feeds.seeder,
        find=feeds.find,
        read=Reader(platform.parser).sitemap,
        plan=feeds.plan,
        clock=platform.clock,
    )


def feed_parts(platform: Platform) -> FeedParts:
    """Return the parts of polling and searching."""
    records, s = platform.records, platform.settings
    plan = CrawlPlan(
        (),
        politeness=Politeness(robots=s.respect_robots, delay_ms=round(s.delay * 1000), concurrency=s.host_concurrency),
        retries=Retries(max_attempts=s.max_retries + 1),
        fetch=FetchOptions(max_redirects=MAX_FEED_REDIRECTS),
    )
    return FeedParts(
        feeds=records.feeds,
        pages=records.pages,
        seeder=Seeder(platform.lifecycle, records.runs, records.tasks, standing_runs(platform)),
        find=PageReader(records.pages, platform.blobs).find,
        read=Reader(platform.parser).entries,
        plan=plan,
    )
