"""Sinks: receivers of items outside the platform, and their positions in the database."""

from collections.abc import Collection, Sequence
from typing import Protocol

from longline.model.sinks.sink import (
    SinkAddress,
    SinkBacklog,
    SinkItem,
    SinkLag,
    SinkLease,
    SinkRow,
    SinkRunLag,
    SkippedItem,
)


class SinkFailed(Exception):
    """A delivery that failed after the first `delivered` items; the others are sent again later.

    `refused` is set if the receiver refused the next item; otherwise the receiver is away.
    """

    def __init__(
        self, message: str, delivered: int = 0, retry_after_seconds: float | None = None, *, refused: bool = False
    ) -> None:
        super().__init__(message)
        self.delivered, self.refused = delivered, refused
        self.retry_after_seconds = retry_after_seconds


class Sink(Protocol):
    """A receiver of items. `batch_size` is the largest number of items of one delivery."""

    @property
    def batch_size(self) -> int:
        """Return the largest number of items of one delivery: after a kill, as many may be sent twice."""
        ...

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        """Send items of one run in their order; raise `SinkFailed` unless the receiver has confirmed all of them."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class SinkStore(Protocol):
    """Sinks, their leases and their positions in runs."""

    async def register(self, address: SinkAddress) -> SinkRow:
        """Return the sink of an address, new or known; the stored runs that it gets are assigned to a new one."""
        ...

    async def register_for(self, address: SinkAddress, run_id: int) -> SinkRow:
        """Return the sink of an address, new or known, and assign one run to it."""
        ...

    async def due(self, sink_id: int, owner: int) -> bool:
        """Return whether items wait for a sink that a process could claim now."""
        ...

    async def claim(self, sink_id: int, owner: int, lease_ms: int) -> SinkLease | None:
        """Lease a sink; None while another living process has it, or before its next attempt is due."""
        ...

    async def renew(self, lease: SinkLease, lease_ms: int) -> None:
        """Extend a lease; raise `StaleLease` if another process has the sink."""
        ...

    async def backlog(self, sink_id: int, limit: int = 100) -> list[SinkBacklog]:
        """Return assigned runs with items that wait for the sink and are due, the oldest first."""
        ...

    async def backlog_of(self, sink_id: int, run_id: int, *, held: bool = False) -> SinkBacklog | None:
        """Return the backlog of an assigned run, or None; a run with a refused item that is not due only if `held`."""
        ...

    async def advance(self, lease: SinkLease, run_id: int, position: int, count: int) -> None:
        """Set the position in a run after a delivery of `count` items; raise `StaleLease` under an old token."""
        ...

    async def refuse(self, lease: SinkLease, run_id: int, position: int, error: str, retry_ms: int) -> None:
        """Note that the sink refused an item; the run is due again after `retry_ms`."""
        ...

    async def fail(self, lease: SinkLease, error: str, retry_ms: int) -> None:
        """Release a sink after a failure; its next attempt is due after `retry_ms`."""
        ...

    async def release(self, lease: SinkLease) -> None:
        """Release a sink; a lease that is no longer held stays as it is."""
        ...


class SinkRunStore(Protocol):
    """The runs that sinks get."""

    async def assign_new(self) -> int:
        """Assign runs with new items to the sinks that get them; return the number of runs."""
        ...

    async def see(self, sink_ids: Collection[int]) -> None:
        """Note that a process has these sinks in its settings."""
        ...

    async def names(self) -> frozenset[str]:
        """Return the names of sinks that sources have."""
        ...

    async def undelivered(self, run_ids: Collection[int]) -> frozenset[int]:
        """Return runs, of these, with items that wait for a sink; sinks without a process for long do not count."""
        ...


class SinkProgressStore(Protocol):
    """The progress of sinks, for the operator."""

    async def lags(self) -> list[SinkLag]:
        """Return the progress of every sink, by label."""
        ...

    async def runs(self, sink_id: int, limit: int = 100) -> list[SinkRunLag]:
        """Return runs with items that wait for a sink, those with a refused item first."""
        ...

    async def run(self, sink_id: int, run_id: int) -> SinkRunLag | None:
        """Return the position of a sink in a run; None for a run that is not assigned to it."""
        ...

    async def skip(self, sink_id: int, lag: SinkRunLag, position: int) -> bool:
        """Skip the item at a position; False if the sink is not where `lag` has it any more."""
        ...

    async def skipped(self, sink_id: int, limit: int = 100) -> list[SkippedItem]:
        """Return skipped items of a sink, in their order."""
        ...

    async def retry(self, sink_id: int) -> None:
        """Make a failed sink and its refused items due now; raise `NotFound` for an unknown sink."""
        ...

    async def remove(self, sink_id: int) -> bool:
        """Delete a sink and its positions; False for an unknown sink, or one that a living process has."""
        ...
