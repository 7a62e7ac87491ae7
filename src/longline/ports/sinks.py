"""Sinks: receivers of items outside the platform, and their positions in the database."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.sinks.sink import SinkAddress, SinkBacklog, SinkItem, SinkLag, SinkLease, SinkRow


class SinkFailed(Exception):
    """A delivery that failed after the first `delivered` items; the others are sent again later."""

    def __init__(self, message: str, delivered: int = 0, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.delivered = delivered
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
        """Return the sink of an address, new or known."""
        ...

    async def claim(self, sink_id: int, owner: int, lease_ms: int) -> SinkLease | None:
        """Lease a sink; None while another living process has it, or before its next attempt is due."""
        ...

    async def renew(self, lease: SinkLease, lease_ms: int) -> None:
        """Extend a lease; raise `StaleLease` if another process has the sink."""
        ...

    async def backlog(self, sink_id: int, run_id: int | None = None, limit: int = 100) -> list[SinkBacklog]:
        """Return runs with items that the sink does not have, or this run, the oldest first."""
        ...

    async def advance(self, lease: SinkLease, run_id: int, position: int, count: int) -> None:
        """Set the position in a run after a delivery of `count` items; raise `StaleLease` under an old token."""
        ...

    async def fail(self, lease: SinkLease, error: str, retry_ms: int) -> None:
        """Release a sink after a failure; its next attempt is due after `retry_ms`."""
        ...

    async def release(self, lease: SinkLease) -> None:
        """Release a sink; a lease that is no longer held stays as it is."""
        ...

    async def lags(self) -> list[SinkLag]:
        """Return the lag of every sink, by label."""
        ...
