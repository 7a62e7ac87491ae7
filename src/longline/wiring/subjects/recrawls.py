"""The services of recrawls, from the parts of the platform."""

from typing import NamedTuple

from longline.engine.archive.page_reader import PageReader
from longline.engine.recrawls.page_retention import RecrawlPageRetention
from longline.services.frontier.task_moves import TaskMoves
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.recrawls.batches import Batches
from longline.services.recrawls.found_urls import FoundUrls
from longline.services.recrawls.holds import Holds
from longline.services.recrawls.images import ProductImages
from longline.services.recrawls.recrawl_moves import RecrawlMoves
from longline.services.recrawls.recrawls import Recrawls
from longline.services.sources.daily_robots import DailyRobots
from longline.services.sources.recrawled_sources import RecrawledSources
from longline.wiring.platform import Platform
from longline.wiring.subjects.sources import recrawl_runs, source_robots, source_service


class RecrawlServices(NamedTuple):
    """The services of recrawls."""

    recrawls: Recrawls
    orders: RecrawlMoves
    batches: Batches
    holds: Holds
    images: ProductImages


def recrawl_services(platform: Platform) -> RecrawlServices:
    """Return the services of recrawls, which share the runs of sources."""
    records, runs, moves = platform.records, recrawl_runs(platform), TaskMoves(platform.lifecycle)
    recrawls = Recrawls(records, runs, platform.politeness, platform.call_workers)
    return RecrawlServices(
        recrawls,
        RecrawlMoves(recrawls, moves, PageReader(records.pages, platform.blobs)),
        Batches(records, moves),
        Holds(records.holds, runs, platform.call_workers),
        ProductImages(records, platform.lifecycle.downloads, runs),
    )


def found_urls(platform: Platform) -> FoundUrls:
    """Return the taker of URLs that pages of recrawls brought."""
    services = recrawl_services(platform)
    return FoundUrls(platform.records.found_urls, services.recrawls, services.images)


def daily_robots(platform: Platform) -> DailyRobots:
    """Return the refresher of the stored robots.txt of sources."""
    return DailyRobots(platform.records.recrawls, source_robots(platform), platform.clock)


def recrawl_page_retention(platform: Platform) -> RecrawlPageRetention:
    """Return the chore that deletes old pages of recrawls."""
    age_ms = round(platform.settings.retention_recrawls * 1000)
    return RecrawlPageRetention(platform.records.recrawl_pages, platform.clock, age_ms)


def recrawled_sources(platform: Platform, holds: Holds) -> RecrawledSources:
    """Return the sources whose pages are submitted by their URLs."""
    records = platform.records
    return RecrawledSources(source_service(platform), records, ProxyFigures(records.proxy_figures), holds)
