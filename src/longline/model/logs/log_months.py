"""Months of logs: entries that are deleted by whole months, and archived before. A month is a number, as 202611."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from longline.model.logs.run_log import LogEntry

DAY_US = 86_400_000_000
KEPT_MONTHS = 6
"""Months before the present one whose entries stay in the database."""


class LogMonth(msgspec.Struct, frozen=True):
    """A month that was made. `lines` entries of an archived month are in `objects` objects."""

    month: int
    created_at: int
    archived_at: int | None = None
    dropped_at: int | None = None
    lines: int = 0
    objects: int = 0


class MonthLine(msgspec.Struct, frozen=True, gc=False):
    """An entry as the archive of its month has it; `uid` is the id of its run."""

    uid: str
    run_id: int
    number: int
    at_us: int
    level: str
    topic: str
    message: str
    fields: str | None

    @property
    def entry(self) -> LogEntry:
        """Return the entry."""
        return LogEntry(self.run_id, self.number, self.at_us, self.level, self.topic, self.message, self.fields)


def month_of(at_us: int) -> int:
    """Return the month of a time in UTC microseconds."""
    return _month_of_day(at_us // DAY_US)


@lru_cache(400)
def _month_of_day(day: int) -> int:
    date = datetime.fromtimestamp(day * 86_400, UTC)
    return 100 * date.year + date.month


def following_month(month: int, count: int = 1) -> int:
    """Return the month that comes `count` months later; a negative count goes back."""
    years, index = divmod(12 * (month // 100) + month % 100 - 1 + count, 12)
    return 100 * years + index + 1


def months_between(first_us: int, last_us: int) -> Iterator[int]:
    """Yield the months from one time to another, both included."""
    month, last = month_of(first_us), month_of(last_us)
    while month <= last:
        yield month
        month = following_month(month)


def start_us(month: int) -> int:
    """Return the first microsecond of a month, in UTC."""
    return int(datetime(month // 100, month % 100, 1, tzinfo=UTC).timestamp()) * 1_000_000


def month_name(month: int) -> str:
    """Return the name of a month's part of the log."""
    return f"log_{month // 100:04}_{month % 100:02}"
