"""Recrawls with their side rows, the holds of their runs, and batches. `engine/lifecycle/` makes the moves."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.recrawls.hold import Hold, HoldReason, HoldWindow
from longline.model.recrawls.recrawl import FoundUrl, NewRecrawl, RecrawlSubmission
from longline.model.recrawls.recrawl_lists import (
    BatchRow,
    QueueDepths,
    RecrawlPage,
    RecrawlQuery,
    RecrawlRow,
    RecrawlStats,
)
from longline.ports.records.frontier.frontier import HostSetting


class RecrawlStore(Protocol):
    """Recrawls: submitted, read, listed and counted."""

    async def submit(self, recrawls: Sequence[NewRecrawl], hosts: Sequence[HostSetting]) -> RecrawlSubmission:
        """Add recrawls whose URLs are new, in one transaction; known and repeated URLs change nothing."""
        ...

    async def get(self, task_id: int) -> RecrawlRow | None:
        """Return one recrawl."""
        ...

    async def find(self, query: RecrawlQuery, *, limit: int, offset: int = 0) -> RecrawlPage:
        """Return a page of recrawls with their total number, which is bounded for unusual filters."""
        ...

    async def failed(self, *, source_id: int | None, failed_after: int | None, limit: int) -> list[int]:
        """Return failed recrawls, the oldest failure first."""
        ...

    async def counts(self, source_id: int | None = None) -> dict[str, int]:
        """Return the number of recrawls at each rest; the time of this call does not grow with them."""
        ...

    async def counts_of(self, sources: Sequence[int]) -> dict[int, dict[str, int]]:
        """Return the number of recrawls of each source at each rest."""
        ...

    async def stats(self, since: int, source_id: int | None = None) -> RecrawlStats:
        """Return the figures of recrawls that were made since a time."""
        ...

    async def depths(self, urgent: int) -> QueueDepths:
        """Return the numbers of recrawls that are due or leased; those up to the priority `urgent` apart."""
        ...

    async def sources_with_old_robots(self, before: int, after: int, limit: int) -> list[int]:
        """Return enabled sources with recrawls, from behind id `after`, whose robots.txt is missing or from before.

        Sources that are held now are left out.
        """
        ...


class GenerationStore(Protocol):
    """The next generations of recrawls, and children whose parents ended."""

    async def succeed(self, limit: int) -> int:
        """Make the next generation of due heads, and move the times of the heads, in one transaction."""
        ...

    async def calls(self, limit: int) -> list[tuple[int, str]]:
        """Return parents that ended while children waited, each with its rest."""
        ...

    async def children(self, parent_id: int, limit: int) -> list[int]:
        """Return children that wait for a parent."""
        ...

    async def wake(self, task_ids: Sequence[int]) -> int:
        """Make waiting children due, each at its own time; return how many."""
        ...

    async def answered(self, parent_id: int) -> None:
        """Delete the call of a parent for which no child waits any more."""
        ...


class HoldStore(Protocol):
    """Holds of runs, which claims pass over."""

    async def hold(self, hold: Hold) -> None:
        """Add a hold, or replace the hold of the same run and reason."""
        ...

    async def lift(self, run_id: int, why: HoldReason) -> bool:
        """End a hold, and wake the hosts of its run; return False when there was none."""
        ...

    async def end_lapsed(self) -> int:
        """End holds whose time is over, and wake the hosts of their runs; return how many."""
        ...

    async def follow_switches(self) -> int:
        """Hold the runs of sources that are off, lift the holds of those that are on; return how many were lifted."""
        ...

    async def held_runs(self) -> frozenset[int]:
        """Return the runs that are held now."""
        ...

    async def note_hosts(self, run_id: int, hosts: Sequence[str]) -> None:
        """Remember hosts with tasks of a run, which are woken when a hold of the run ends."""
        ...

    async def find(self) -> list[Hold]:
        """Return all holds, those of later times too."""
        ...

    async def set_window(self, run_id: int, window: HoldWindow | None) -> None:
        """Set the daily window of a run, or remove it together with its hold."""
        ...

    async def windows(self) -> list[HoldWindow]:
        """Return all daily windows."""
        ...


class BatchStore(Protocol):
    """Batches of recrawls."""

    async def add(self, name: str) -> BatchRow:
        """Add a batch."""
        ...

    async def get(self, batch_id: int) -> BatchRow | None:
        """Return a batch with its counts."""
        ...

    async def find(self, *, limit: int, offset: int = 0) -> tuple[list[BatchRow], int]:
        """Return batches, the newest first, without counts, and the number of all batches."""
        ...

    async def members(self, batch_id: int, *, after: int, limit: int) -> list[int]:
        """Return recrawls of a batch in the order of their ids, from behind id `after`."""
        ...


class FoundUrlStore(Protocol):
    """URLs that pages of recrawls brought: children to be submitted, and images to be stored."""

    async def find(self, limit: int) -> list[FoundUrl]:
        """Return the oldest URLs."""
        ...

    async def delete(self, ids: Sequence[int]) -> None:
        """Delete URLs that were taken."""
        ...


class RecrawlPageStore(Protocol):
    """The archived pages of recrawls."""

    async def delete_pages(self, before: int, after: int, limit: int) -> tuple[int, int | None]:
        """Delete pages from before a moment, of recrawls at rest, among so many recrawls behind the id `after`.

        Return the number of deleted pages, and the last id that was looked at, None at the end. A body that other
        pages refer to is kept.
        """
        ...
