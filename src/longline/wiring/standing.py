"""The standing frontier, and links that may become schedules, from the parts of the house."""

from typing import Any

from longline.engine.standing import StandingRules, StandingRuns
from longline.model.schedule import ScheduleRow, Terms
from longline.services.discovered import Discovered
from longline.services.frontier import Frontier
from longline.surfaces.intervals.discovered import DiscoveredParts
from longline.surfaces.intervals.shapes import job
from longline.wiring.house import House
from longline.wiring.planner import desk, directory


def standing_frontier(house: House) -> Frontier:
    """The frontier that takes single URLs, polite as the operator wants it."""
    runs = standing_runs(house)
    return Frontier(house.records, house.lifecycle, house.politeness, house.signals, runs)


def standing_runs(house: House) -> StandingRuns:
    """The runs that the URLs of the frontier belong to."""
    s = house.settings
    rules = StandingRules(
        delay_ms=round(s.delay * 1000),
        robots=s.respect_robots,
        attempts=s.frontier_attempts,
        max_redirects=s.frontier_redirects,
        readability=s.readability,
    )
    return StandingRuns(house.records.runs, directory(house), rules)


def discovered_parts(house: House) -> DiscoveredParts:
    """Links that lead away, and how one of them becomes a schedule."""

    behind = desk(house)

    async def make(url: str, source: str, name: str) -> ScheduleRow:
        return await behind.schedules.make(Terms(url=url, source_ref=source, source_name=name or None))

    def shown(row: ScheduleRow) -> dict[str, Any]:
        return job(row, behind.lease_ms)

    return DiscoveredParts(Discovered(house.records.links, make), shown, house.clock.now)
