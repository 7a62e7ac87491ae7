"""The chores around feeds, from the parts of the house."""

from longline.engine.archive import Archive
from longline.engine.runtime import Loop, chore
from longline.engine.seeding import Seeder
from longline.engine.upkeep import mapper
from longline.engine.upkeep.feeder import Feeder, Parts
from longline.engine.upkeep.finder import Finder
from longline.engine.upkeep.mapper import Mapper
from longline.model.plan import CrawlPlan
from longline.parsers.feed import read_feed
from longline.parsers.sitemap import read_sitemap
from longline.wiring.directory import standing_runs
from longline.wiring.house import House

LOOK_EVERY = 5.0


def feed_chores(house: House) -> dict[str, Loop]:
    """The loops that poll feeds and sitemaps and search feeds, as far as the operator wants them."""
    parts, chores = feed_parts(house), dict[str, Loop]()
    if house.settings.sitemaps:
        chores["mapper"] = chore(Mapper(sitemap_parts(house)).once, LOOK_EVERY)
    if house.settings.feeds:
        chores["feeder"] = chore(Feeder(parts).once, LOOK_EVERY)
    if house.settings.feed_discovery:
        chores["finder"] = chore(Finder(parts, house.records.sources).once, LOOK_EVERY)
    return chores


def sitemap_parts(house: House) -> mapper.Parts:
    """What reading sitemaps works with in this house."""
    records, feeds = house.records, feed_parts(house)
    return mapper.Parts(
        sitemaps=records.sitemaps,
        sources=records.sources,
        seeder=feeds.seeder,
        find=feeds.find,
        read=read_sitemap,
        plan=feeds.plan,
        clock=house.clock,
    )


def feed_parts(house: House) -> Parts:
    """What polling and searching work with in this house."""
    records, s = house.records, house.settings
    plan = CrawlPlan(
        (),
        robots=s.respect_robots,
        delay_ms=round(s.delay * 1000),
        concurrency=s.host_concurrency,
        max_attempts=s.max_retries + 1,
    )
    return Parts(
        feeds=records.feeds,
        tasks=records.tasks,
        seeder=Seeder(house.lifecycle, records.runs, records.tasks, standing_runs(house)),
        find=Archive(records.tasks, house.blobs).find,
        read=read_feed,
        plan=plan,
    )
