"""Update intervals that feeds ask for: the ttl of RSS, in minutes, and the period of the syndication module."""

from longline.model.duration import HOUR_MS, MINUTE_MS

PERIODS = {
    "hourly": HOUR_MS,
    "daily": 24 * HOUR_MS,
    "weekly": 168 * HOUR_MS,
    "monthly": 730 * HOUR_MS,
    "yearly": 8760 * HOUR_MS,
}
"""Milliseconds of the values of sy:updatePeriod."""


def update_interval_ms(ttl: str, period: str, frequency: str) -> int | None:
    """Return the interval between two updates; the ttl counts before the period and its updates in each period."""
    if ttl.isascii() and ttl.isdigit() and int(ttl[:9]) > 0:
        return int(ttl[:9]) * MINUTE_MS
    milliseconds, times = PERIODS.get(period.lower()), frequency or "1"
    if milliseconds is None or not (times.isascii() and times.isdigit()):
        return milliseconds
    return milliseconds // max(int(times[:9]), 1)
