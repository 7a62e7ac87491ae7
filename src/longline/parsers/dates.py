"""Dates as pages and feeds write them, in standard and in free forms."""

import re
from calendar import timegm
from datetime import UTC, datetime, timedelta

from longline.model.timestamps import w3c_moment

_ZONE = re.compile(r"([+-]\d{2})(\d{2})$")
_FRACTION = re.compile(r"(\.\d{6})\d+")

_MAX_LENGTH = 100
_EPOCH = re.compile(r"\d{10}(?:\d{3})?", re.ASCII)
_OTHER_ISO = re.compile(r"\d{8}t\S+|\d{8}|\d{4}-?w\d\S*", re.ASCII)
_NAME = r"(?P<name>[^\W\d_]{3,})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATE_PATTERNS = tuple(
    map(
        re.compile,
        (
            rf"{_NAME}\s+{_DAY}\s+\d{{1,2}}:\d\d\b.*\s(?P<year>\d{{4}})$",
            rf"\b{_DAY}[\s.-]+(?:de\s+)?{_NAME},?[\s.-]+(?:de\s+)?(?P<year>\d{{4}}|\d\d)(?!\d)",
            rf"{_NAME}\s+{_DAY},?\s+(?P<year>\d{{4}})\b",
            rf"\b(?P<year>\d{{4}})-{_NAME}-(?P<day>\d{{1,2}})(?!\d)",
            r"\b(?P<year>\d{4})[/.年년]\s?(?P<month>\d{1,2})[/.月월]\s?(?P<day>\d{1,2})(?!\d)",
            r"\b(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})\b",
            # Two numbers and slashes: the American order, unless the first number is no month.
            r"\b(?P<day>1[3-9]|2\d|3[01])/(?P<month>\d{1,2})/(?P<year>\d{4})\b",
            r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b",
        ),
    )
)
"""Patterns of written dates, in the order in which they are tried."""

_TIME = re.compile(
    r"""(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:[.,]\d+)?\s*(?P<half>[ap]\.?m\b\.?)?
    \s*(?:(?:gmt|utc?|z)?\s*(?P<sign>[+-])(?P<zone_hour>\d{1,2}):?(?P<zone_minute>\d\d)?(?!\d)|(?P<zone>[a-z]{1,5})\b)?""",
    re.VERBOSE | re.ASCII,
)
_MONTHS = (
    "jan ene gen янв ιαν sty",
    "feb fev fév фев φεβ lut",
    "mar mär már maa mrt мар μάρ μαρ",
    "apr ápr avr abr апр απρ kwi",
    "may mai mag mei máj май мая μάϊ μαϊ maj",
    "jun juin jún giu июн ιούν cze",
    "jul juil júl lug июл ιούλ lip",
    "aug aou aoû ago авг αύγ αυγ sie",
    "sep sze set сен σεπ wrz",
    "oct okt ott out окт οκτ paź",
    "nov ноя νοέ νοε lis",
    "dec déc dez dic дек δεκ gru",
)
_MONTH = {name: month for month, names in enumerate(_MONTHS, 1) for name in names.split()}
"""Months by the beginnings of their names in a dozen languages: three letters, or four where three are ambiguous."""

_ZONES = (
    "-10 hst; -9 akst; -8 pst pt akdt; -7 mst mt pdt; -6 cst ct mdt; -5 est et cdt; -4 edt ast at; -3 adt brt art; "
    "1 bst west cet met mez; 2 cest mest mesz eet sast; 3 eest msk; 5 pkt; 5.5 ist; 8 sgt hkt; 9 jst kst; 10 aest; "
    "11 aedt; 12 nzst; 13 nzdt"
)
_HOURS = {name: float(hours) for hours, *names in map(str.split, _ZONES.split("; ")) for name in names}
"""Offsets from UTC, in hours, of named zones; an unknown name is read as UTC."""


def date_of(text: object) -> str | None:
    """Return an ISO 8601 date or time in the stored form, UTC unless it names a zone; None for other values."""
    if not isinstance(text, str) or len(text) > 64:
        return None
    plain = _ZONE.sub(r"\1:\2", _FRACTION.sub(r"\1", text.strip().upper()))
    try:
        at = datetime.fromisoformat(plain)
    except ValueError:
        return None
    # A week date or the basic form would pass as well; pages mean neither.
    if not re.match(r"\d{4}-\d{2}-\d{2}", plain):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()


def timestamp_of(text: str) -> int | None:
    """Return a date in any form found in feeds as UTC milliseconds; None for other text."""
    exact = w3c_moment(text)
    text = text.strip().lower()
    if exact is not None or len(text) > _MAX_LENGTH:
        return exact
    try:
        if _EPOCH.fullmatch(text):
            return int(text.ljust(13, "0"))
        at = datetime.fromisoformat(text.upper()) if _OTHER_ISO.fullmatch(text) else _written_date(text)
        return timegm(at.utctimetuple()) * 1000 if at else None
    except (ValueError, OverflowError):
        return None


def _written_date(text: str) -> datetime | None:
    """Return the time of a date written in one of the usual forms, None for another form."""
    found = next((match for shape in _DATE_PATTERNS if (match := shape.search(text))), None)
    if found is None:
        return None
    part = found.groupdict()
    month = int(part["month"]) if "month" in part else _MONTH.get(part["name"][:4]) or _MONTH.get(part["name"][:3], 0)
    day = datetime(_year(part["year"]), month, int(part["day"]), tzinfo=UTC)
    time = _TIME.search(text)
    return day + _since_midnight(time.groupdict()) if time else day


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:
        return year + (2000 if year < 50 else 1900)
    if year < 1000:
        raise ValueError("no year of the web")
    return year


def _since_midnight(part: dict[str, str | None]) -> timedelta:
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError("no time of a day")
    if part["half"]:
        hour = hour % 12 + (12 if part["half"].startswith("p") else 0)
    away = timedelta(hours=int(part["zone_hour"] or 0), minutes=int(part["zone_minute"] or 0))
    if part["zone"]:
        away = timedelta(hours=_HOURS.get(part["zone"], 0))
    return timedelta(hours=hour, minutes=minute, seconds=second) - (-away if part["sign"] == "-" else away)
