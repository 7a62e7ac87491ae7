"""Time zones in which a person may read times."""

from functools import cache
from zoneinfo import available_timezones


@cache
def known_time_zones() -> tuple[str, ...]:
    """Return the names of all time zones, UTC first."""
    return ("UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/")))
