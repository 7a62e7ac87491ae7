"""Logs of runs, in one order that every reader sees without gaps; and the event log."""

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.logs.event import Event
from longline.model.logs.log_months import LogMonth, MonthLine
from longline.model.logs.run_log import DueLog, LogEntry, LoggedRun, LogPart, LogQuery, NewLogEntry, StoredLogPage

log = logging.getLogger(__name__)


class LogStore(Protocol):
    """Logs of runs. Entries of a run become visible in the order of their numbers, whichever process writes them."""

    async def open(self, run_id: int, first: Sequence[NewLogEntry]) -> bool:
        """Begin the log of a run with these entries; return False when the log exists."""
        ...

    async def append(self, entries: Sequence[NewLogEntry], dropped: Mapping[int, int]) -> set[int]:
        """Write entries in their order and count lost ones, by run; return the runs that got entries.

        Missing logs are begun. Entries for a sealed log of an ended run are counted as lost.
        """
        ...

    async def read(self, run_id: int, after: int, limit: int) -> LogPart:
        """Return entries from behind number `after`."""
        ...

    async def tail(self, name: str, uid: str | None, limit: int) -> list[LogEntry]:
        """Return the newest entries of a schedule's runs (of one of them), oldest first."""
        ...

    async def find(
        self, name: str, *, uid: str | None = None, number: int | None = None, limit: int = 50, offset: int = 0
    ) -> list[LoggedRun]:
        """Return runs of a schedule, newest first, logged or not; a run without a schedule has its id as name."""
        ...

    async def following(self, name: str, run_id: int) -> LoggedRun | None:
        """Return the schedule's first run after this one that has a log."""
        ...

    async def due(self, due: DueLog, limit: int = 100) -> list[LoggedRun]:
        """Return runs with an open log that ended, or that are due for a progress entry."""
        ...

    async def beat(self, run: LoggedRun, entries: Sequence[NewLogEntry]) -> bool:
        """Write the progress of a due run; return False when another process has written the progress since."""
        ...

    async def seal(self, run_id: int, last: Sequence[NewLogEntry]) -> bool:
        """Close the log of an ended run with these entries; return False when closed or while the run is open."""
        ...

    async def unarchived(self, limit: int = 100) -> list[LoggedRun]:
        """Return runs with a closed log that is not completely in an object, empty logs included."""
        ...

    async def archived(self, run_id: int, was: int, key: str, size: int, kept: int) -> bool:
        """Record that `kept` entries are in an object; return False when the number before was not `was`."""
        ...

    async def prune(self, entries_ms: int, logs_ms: int, *, unkept: bool = False, limit: int = 100) -> list[str]:
        """Delete entries of logs closed for `entries_ms`, and whole logs; return the keys of the whole logs.

        Entries that are in no object are deleted only with `unkept`. Whole logs are deleted when closed for `logs_ms`
        or without a run.
        """
        ...


class LogPageStore(Protocol):
    """Pages of logs; the time of a call does not grow with the log."""

    async def page(self, run_id: int, query: LogQuery, limit: int) -> StoredLogPage | None:
        """Return the first entries in the database that fit, oldest first; None when the run has no log."""
        ...


class LogMonthStore(Protocol):
    """Months of the logs that are deleted by whole months."""

    async def make(self, month: int) -> bool:
        """Make a month, for entries of its time; return False when it was made before."""
        ...

    async def find(self) -> list[LogMonth]:
        """Return the months that were made and are still there, oldest first."""
        ...

    async def unmade(self) -> list[int]:
        """Return the months that have entries and were not made."""
        ...

    async def lines(self, month: int, after: tuple[int, int], limit: int) -> list[MonthLine]:
        """Return entries of a month from behind a run and a number, in the order of runs and numbers."""
        ...

    async def archived(self, month: int, lines: int, objects: int) -> bool:
        """Note that a month is archived; return False when it has another number of entries."""
        ...

    async def drop(self, month: int) -> bool:
        """Delete a month that was archived, with its entries and the logs that end in it; return False for another."""
        ...


class EventStore(Protocol):
    """The event log, for reading; each event is written by the transaction of its change."""

    async def find(self, *, after: int = 0, limit: int = 1000, listed: bool = True) -> list[Event]:
        """Return events with a larger id, oldest first; a reader that continues from the last one misses none.

        Without `listed` the lists of task moves are left out.
        """
        ...

    async def newest(self) -> int:
        """Return the largest id; later events have larger ids."""
        ...
