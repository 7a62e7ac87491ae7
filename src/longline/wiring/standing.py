"""The standing frontier, from the parts of the house."""

from longline.services.frontier import Frontier
from longline.wiring.house import House


def standing_frontier(house: House) -> Frontier:
    """The frontier that takes single URLs, polite as the operator wants it."""
    s = house.settings
    delay_ms = round(s.delay * 1000)
    return Frontier(house.records, house.lifecycle, house.signals, delay_ms=delay_ms, robots=s.respect_robots)
