"""Source lookup, and the standing runs made for sources, from the parts of the house."""

from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots_file import RobotsFiles
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.frontier.standing_runs import StandingRules, StandingRuns
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.sources.lookup import CachedSources, LocalSources, RemoteSources
from longline.ports.sources import SourceLookup
from longline.services.sources.source_robots import SourceRobots
from longline.services.sources.sources import Sources
from longline.settings import Settings
from longline.wiring.house import House
from longline.wiring.parts.sinks import sink_names


def directory(house: House) -> SourceLookup:
    """Return the source lookup: at the source manager where one is set, else in our own table."""
    own = LocalSources(house.records.sources)
    if house.source_manager is None:
        return own
    return RemoteSources(house.source_manager, house.records.remote_sources, own, house.records.schema.now)


def standing_runs(house: House) -> StandingRuns:
    """Return the runs that the URLs of the standing frontier belong to."""
    near = CachedSources(LocalSources(house.records.sources), directory(house))
    return StandingRuns(house.records.runs, near, _rules(house.settings), house.clock, house.parsers)


def plan_cache(house: House) -> PlanCache:
    """Return the plans of runs; the plans of standing runs follow their sources."""
    return PlanCache(house.records.runs, standing_runs(house), recrawls=recrawl_runs(house))


def recrawl_runs(house: House) -> RecrawlRuns:
    """Return the runs of recrawls, one for each source."""
    records = house.records
    return RecrawlRuns(records.runs, records.sources, house.clock, house.parsers, robots=house.settings.respect_robots)


def source_service(house: House) -> Sources:
    """Return the service of sources."""
    records = house.records
    return Sources(
        records.sources,
        records.feeds,
        house.clock,
        house.parsers,
        sinks=sink_names(house.settings),
        remote=house.source_manager is not None,
        pools=records.pools,
    )


def source_robots(house: House) -> SourceRobots:
    """Return the service that fetches the robots.txt of sources on a person's order."""
    s = house.settings
    proxies = ProxyRotation(house.stored_proxies, house.clock)
    timeouts = FetchSettings(s.user_agent, s.connect_timeout, s.idle_timeout, s.request_timeout)
    files = RobotsFiles(Sender(house.http, house.clock, timeouts, proxies), proxies)
    return SourceRobots(
        source_service(house),
        files,
        house.signals,
        house.clock,
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
