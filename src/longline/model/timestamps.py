"""Moments as UTC milliseconds, read from W3C dates and written by RFC 3339."""

import re
from calendar import timegm
from datetime import UTC, datetime, timedelta

_W3C = re.compile(
    r"""\s*(?P<year>\d{4})
    (?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})
    (?:(?:[Tt]|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?
    \s*(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<zone_hour>\d{2}):?(?P<zone_minute>\d{2})?)?)?)?)?\s*""",
    re.VERBOSE | re.ASCII,
)


MAX_CHARACTERS = 256
"""Largest length of a date: the expression matches spaces in several ways, which costs time in long texts."""


def w3c_moment(text: str) -> int | None:
    """Return the moment of a W3C date of any precision, from a year to parts of a second; None for any other text.

    A date without a zone is UTC. A space instead of the T and a zone without its colon are accepted: both are common.
    """
    found = _W3C.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if found is None:
        return None
    part = found.groupdict()
    try:
        moment = datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            59 if part["second"] == "60" else int(part["second"] or 0),  # a leap second
            int((part["fraction"] or "0")[:6].ljust(6, "0")),
            tzinfo=UTC,
        )
        away = timedelta(hours=int(part["zone_hour"] or 0), minutes=int(part["zone_minute"] or 0))
        moment -= -away if part["sign"] == "-" else away
    except (ValueError, OverflowError):
        return None
    return timegm(moment.utctimetuple()) * 1000 + moment.microsecond // 1000


def written(at: int) -> str:
    """Return a moment as RFC 3339 text."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def written_us(at_us: int) -> str:
    """Return a moment in microseconds as RFC 3339 text."""
    seconds, micros = divmod(at_us, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{micros:06}Z"


def read_us(text: str) -> int:
    """Return the microseconds of an RFC 3339 text in UTC with at least six digits of a second."""
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return timegm(datetime.fromisoformat(seconds).timetuple()) * 1_000_000 + int(fraction[:6])
