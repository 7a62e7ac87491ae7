"""Cron expressions of five fields, in UTC: minute, hour, day of the month, month, day of the week.

A field is `*`, a number, a range, a list of these with commas, each with an optional step: `*/15`, `1-5`, `0,30`.
Months and days of the week may be named. As in Vixie cron, a day fits if either of its two fields does, where both are
restricted; Sunday is 0 and 7.
"""

import re
from datetime import UTC, date, datetime, timedelta

import msgspec

from longline.model.errors import BadInput

INVALID_CRON = "Invalid cron expression"
MAX_YEARS = 8
"""Years without a fitting day after which an expression fits none, as 30 February; a leap day may be 8 years away."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:/([0-9]{1,4}))?")


class Cron(msgspec.Struct, frozen=True):
    """A read expression: the fitting values of each field."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    @classmethod
    def parse(cls, text: str) -> "Cron":
        """Read an expression; raise `BadInput` for one that is not valid, or fits no time."""
        fields = text.lower().split()
        if len(fields) != 5:
            raise BadInput(INVALID_CRON)
        minutes, hours, days = _values(fields[0], 0, 59), _values(fields[1], 0, 23), _values(fields[2], 1, 31)
        months = _values(fields[3], 1, 12, dict(zip(_MONTHS, range(1, 13), strict=True)))
        weekdays = {value % 7 for value in _values(fields[4], 0, 7, dict(zip(_DAYS, range(7), strict=True)))}
        either = not fields[2].startswith("*") and not fields[4].startswith("*")
        found = cls(
            tuple(sorted(minutes)),
            tuple(sorted(hours)),
            frozenset(days),
            frozenset(months),
            frozenset(weekdays),
            either,
        )
        found.next_after(0)
        return found

    def next_after(self, at_ms: int) -> int:
        """Return the first fitting time behind a time, both in UTC milliseconds."""
        start = datetime.fromtimestamp(at_ms // 1000, UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        day, first = start.date(), (start.hour, start.minute)
        for _ in range(MAX_YEARS * 366):
            if self._fits(day):
                for hour in self.hours:
                    for minute in self.minutes:
                        if (hour, minute) >= first:
                            found = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
                            return round(found.timestamp()) * 1000
            day, first = day + timedelta(days=1), (0, 0)
        raise BadInput(INVALID_CRON)

    def _fits(self, day: date) -> bool:
        by_date, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and (by_date or by_weekday if self.either_day else by_date and by_weekday)


def _values(field: str, low: int, high: int, names: dict[str, int] | None = None) -> set[int]:
    """Return the values of a field."""
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise BadInput(INVALID_CRON)
        star, first, last, step = match.groups()
        begin = low if star else _number(first, names or {})
        end = high if star or (step and last is None) else _number(last or first, names or {})
        stride = int(step) if step else 1
        if not low <= begin <= end <= high or stride < 1:
            raise BadInput(INVALID_CRON)
        found.update(range(begin, end + 1, stride))
    return found


def _number(text: str, names: dict[str, int]) -> int:
    if text in names:
        return names[text]
    if not text.isdecimal() or len(text) > 4:
        raise BadInput(INVALID_CRON)
    return int(text)
