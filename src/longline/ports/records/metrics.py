"""Named counters, shared by all processes."""

from collections.abc import Mapping
from typing import Protocol

from longline.model.metrics.throughput import ThroughputCount, ThroughputWindow, WorkerThroughput


class CounterStore(Protocol):
    """Counters by name, shared by all processes."""

    async def add(self, counts: Mapping[str, int], throughput: WorkerThroughput | None = None) -> None:
        """Add to counters, and to the throughput of the present minute, in one transaction."""
        ...

    async def put(self, name: str, count: int) -> None:
        """Set a counter."""
        ...

    async def all(self) -> dict[str, int]:
        """Return every counter."""
        ...


class ThroughputStore(Protocol):
    """Throughput of all processes, by the minute and by the hour."""

    async def find(self, window: ThroughputWindow, now: int) -> list[ThroughputCount]:
        """Return the counts of a window up to now, summed over processes and by the steps of the window."""
        ...

    async def upkeep(self) -> None:
        """Sum up the newest hours, and delete what is too old."""
        ...
