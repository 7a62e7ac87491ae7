"""The standing frontier, and links that may become schedules, from the parts of the house."""

from typing import Any

from longline.model.schedule import ScheduleRow
from longline.services.discovered import Discovered
from longline.services.frontier import Frontier
from longline.surfaces.intervals.discovered import DiscoveredParts
from longline.surfaces.intervals.shapes import job
from longline.wiring.directory import standing_runs
from longline.wiring.house import House
from longline.wiring.planner import desk


def standing_frontier(house: House) -> Frontier:
    """The frontier that takes single URLs, polite as the operator wants it."""
    runs = standing_runs(house)
    return Frontier(house.records, house.lifecycle, house.politeness, house.signals, runs)


def discovered_parts(house: House) -> DiscoveredParts:
    """Links that lead away, and how one of them becomes a schedule."""

    behind = desk(house)

    def shown(row: ScheduleRow) -> dict[str, Any]:
        return job(row, behind.lease_ms)

    return DiscoveredParts(Discovered(house.records.links, behind.schedules.make), shown, house.clock.now)
