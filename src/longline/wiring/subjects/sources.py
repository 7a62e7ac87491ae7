"""Source lookup, and the standing runs made for sources, from the parts of the platform."""

from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots_file import RobotsFiles
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.frontier.standing_runs import StandingRules, StandingRuns
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.sources.remote_source_lookup import RemoteSources
from longline.engine.sources.source_lookup import CachedSources, LocalSources
from longline.ports.sources import SourceLookup
from longline.services.series.series import Series
from longline.services.sources.source_robots import SourceRobots
from longline.services.sources.sources import Sources
from longline.settings import Settings
from longline.wiring.platform import Platform
from longline.wiring.subjects.sinks import sink_names


def directory(platform: Platform) -> SourceLookup:
    """Return the source lookup: at the source manager where one is set, else in our own table."""
    own = LocalSources(platform.records.sources)
    if platform.source_manager is None:
        return own
    return RemoteSources(platform.source_manager, platform.records.remote_sources, own, platform.records.schema.now)


def standing_runs(platform: Platform) -> StandingRuns:
    """Return the runs that the URLs of the standing frontier belong to."""
    near = CachedSources(LocalSources(platform.records.sources), directory(platform))
    return StandingRuns(platform.records.runs, near, _rules(platform.settings), platform.clock, platform.parsers)


def plan_cache(platform: Platform) -> PlanCache:
    """Return the plans of runs; the plans of standing runs follow their sources."""
    return PlanCache(platform.records.runs, standing_runs(platform), recrawls=recrawl_runs(platform))


def recrawl_runs(platform: Platform) -> RecrawlRuns:
    """Return the runs of recrawls, one for each source."""
    records, robots = platform.records, platform.settings.respect_robots
    return RecrawlRuns(
        records.runs, records.sources, platform.clock, platform.parsers, robots=robots, known=platform.recrawl_plans
    )


def source_service(platform: Platform) -> Sources:
    """Return the service of sources."""
    records = platform.records
    sources = Sources(
        records.sources,
        records.feeds,
        platform.clock,
        platform.parsers,
        sinks=sink_names(platform.settings),
        remote=platform.source_manager is not None,
        pools=records.pools,
    )
    sources.announce = platform.tell_settings
    return sources


def catalogue_series(platform: Platform) -> Series:
    """Return the service of series and of their pages on sources."""
    records = platform.records
    return Series(records.catalogues.series, records.catalogues.targets, records.sources)


def source_robots(platform: Platform) -> SourceRobots:
    """Return the service that fetches the robots.txt of sources on a person's order."""
    s = platform.settings
    proxies = ProxyRotation(platform.stored_proxies, platform.clock, caches_absence=False)
    timeouts = FetchSettings(s.user_agent, s.connect_timeout, s.idle_timeout, s.request_timeout)
    files = RobotsFiles(Sender(platform.http, platform.clock, timeouts, proxies), proxies)
    return SourceRobots(
        source_service(platform),
        files,
        platform.signals,
        platform.clock,
        delay_ms=round(s.delay * 1000),
        user_agent=s.user_agent,
    )


def _rules(s: Settings) -> StandingRules:
    return StandingRules(
        delay_ms=round(s.delay * 1000),
        robots=s.respect_robots,
        attempts=s.frontier_attempts,
        max_redirects=s.frontier_redirects,
        readability=s.readability,
        awake=s.frontier,
    )
