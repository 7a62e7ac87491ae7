"""Logs: what runs said, in one order that every reader sees without gaps."""

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.event import Event
from longline.model.logs import DueLog, LogEntry, LoggedRun, LogPart, NewLogEntry

log = logging.getLogger(__name__)


class LogStore(Protocol):
    """Remembers logs. Entries of a run become visible in the order of their numbers, whoever writes them."""

    async def open(self, run_id: int, first: Sequence[NewLogEntry]) -> bool:
        """Begin the log of a run with these entries; False when it was begun before."""
        ...

    async def append(self, entries: Sequence[NewLogEntry], dropped: Mapping[int, int]) -> set[int]:
        """Write entries in their order and count what was lost, by run; the runs that got any.

        Logs are begun where there are none. What a sealed log is given after its run has ended is counted as lost.
        """
        ...

    async def read(self, run_id: int, after: int, limit: int) -> LogPart:
        """Entries from behind number `after`."""
        ...

    async def tail(self, name: str, uid: str | None, limit: int) -> list[LogEntry]:
        """The newest entries of a schedule's runs (of one of them), oldest first."""
        ...

    async def find(
        self, name: str, *, uid: str | None = None, number: int | None = None, limit: int = 50, offset: int = 0
    ) -> list[LoggedRun]:
        """Runs of a schedule, newest first, with or without a log; a run without a schedule goes by its own id."""
        ...

    async def following(self, name: str, run_id: int) -> LoggedRun | None:
        """The first run of the schedule after this one that has a log."""
        ...

    async def due(self, due: DueLog, limit: int = 100) -> list[LoggedRun]:
        """Runs with an open log that have something to be said of: how far they are, or that they ended."""
        ...

    async def beat(self, run: LoggedRun, entries: Sequence[NewLogEntry]) -> bool:
        """Say how far a run is that was found due; False when somebody else has said it since."""
        ...

    async def seal(self, run_id: int, last: Sequence[NewLogEntry]) -> bool:
        """Close the log of a run that has ended, with these entries; False when it is closed or the run lives."""
        ...

    async def unkept(self, limit: int = 100) -> list[LoggedRun]:
        """Runs with a closed log of which not everything is in an object, be it that there is nothing."""
        ...

    async def archived(self, run_id: int, was: int, key: str, size: int, kept: int) -> bool:
        """Say that so many entries are in an object now; False when `was` is not how many there were before."""
        ...

    async def prune(self, entries_ms: int, logs_ms: int, *, unkept: bool = False, limit: int = 100) -> list[str]:
        """Forget the entries of logs closed for so long that are in an object, or `unkept` as well; and whole logs
        that are closed for longer or without a run. The keys of the latter."""
        ...


class EventStore(Protocol):
    """Reads the event log; events are written by the transactions they tell of."""

    async def find(self, *, after: int = 0, limit: int = 1000, listed: bool = True) -> list[Event]:
        """Events with a larger id, oldest first; whoever goes on from the last of them misses none.

        Without `listed` the lists of task moves are left out.
        """
        ...

    async def newest(self) -> int:
        """The largest id there is; what comes later is larger."""
        ...
