"""The loops of sources: feeds, sitemaps, remote sources and candidates."""

from longline.engine.feeds.feed_poller import LOOK_INTERVAL_SECONDS
from longline.model.frontier.worker import UPKEEP
from longline.wiring.doors.intervals import source_events_loop
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.subjects.discovery import candidate_probe
from longline.wiring.subjects.feeds import feed_loop, feed_search_loop, remote_source_loop, sitemap_loop

SOURCES_LOOPS = (
    LoopRow(
        "feeds",
        "Poll feeds that are due, and admit their entries.",
        (UPKEEP,),
        "feed_poll",
        make=lambda p: feed_loop(p.platform),
        settings=("feeds",),
    ),
    LoopRow(
        "feed search",
        "Search the feeds of sources that name none.",
        (UPKEEP,),
        "feed_search",
        make=lambda p: feed_search_loop(p.platform),
        settings=("feed_discovery",),
    ),
    LoopRow(
        "sitemaps",
        "Read sitemaps that are due, and admit their URLs.",
        (UPKEEP,),
        LOOK_INTERVAL_SECONDS,
        make=lambda p: sitemap_loop(p.platform),
        settings=("sitemaps",),
    ),
    LoopRow(
        "remote sources",
        "Fetch the source list of another service, and report the status of feeds to it.",
        (UPKEEP,),
        "sources_every",
        make=lambda p: remote_source_loop(p.platform),
        settings=("sources_url",),
    ),
    LoopRow(
        "source events",
        "Update schedules after the source events of another service.",
        (UPKEEP,),
        None,
        make=lambda p: source_events_loop(p.platform),
        settings=("source_events", "redis"),
    ),
    LoopRow(
        "candidate probes",
        "Fetch the pages of candidates, and read their feeds.",
        (UPKEEP,),
        LOOK_INTERVAL_SECONDS,
        once=lambda p: candidate_probe(p.platform).once,
        settings=("discovery",),
    ),
)
