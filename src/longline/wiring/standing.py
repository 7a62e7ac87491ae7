"""The standing frontier, and links that may become schedules, from the parts of the house."""

from typing import Any

from longline.model.ids import new_id
from longline.model.schedule import NewSchedule, ScheduleRow
from longline.services.discovered import Discovered
from longline.services.frontier import Frontier, FrontierSettings
from longline.surfaces.intervals.discovered import DiscoveredParts
from longline.wiring.house import House


def standing_frontier(house: House) -> Frontier:
    """The frontier that takes single URLs, polite as the operator wants it."""
    s = house.settings
    wanted = FrontierSettings(round(s.delay * 1000), s.respect_robots)
    return Frontier(house.records, house.lifecycle, house.politeness, house.signals, wanted)


def discovered_parts(house: House) -> DiscoveredParts:
    """Links that lead away, and how one of them becomes a schedule."""

    async def make(url: str, source: str, _: str) -> ScheduleRow:
        source_id = int(source) if source.isdecimal() else None
        known = source_id is not None and await house.records.sources.get(source_id) is not None
        new = NewSchedule(new_id(), url, source_id if known else None, next_due=house.clock.now())
        return await house.records.schedules.add(new)

    return DiscoveredParts(Discovered(house.records.links, make), _shown, house.clock.now)


def _shown(row: ScheduleRow) -> dict[str, Any]:
    return {"id": row.uid, "source_id": str(row.source_id or ""), "url": row.url, "status": row.state}
