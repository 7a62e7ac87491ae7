"""The remote source manager: its sources, reports on their feeds, and its events."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from longline.model.sources.source import CrawlSource

Described = dict[str, Any]
"""A source in the fields of the remote source manager."""


class ListedSource(msgspec.Struct, frozen=True):
    """One page of the list of sources; `total` sources and `pages` in all, if the service reports them."""

    sources: list[Described]
    total: int | None = None
    pages: int | None = None


class SourceManager(Protocol):
    """The remote source manager. Raises `Unavailable` when away, unauthorized, or unreadable in its response."""

    async def page(self, number: int, *, feed_active: bool = False) -> ListedSource:
        """Return one page of sources, from 1; with `feed_active` only sources with feeds to be polled."""
        ...

    async def get(self, ref: str) -> Described | None:
        """Return one source; None when unknown."""
        ...

    async def put(self, ref: str, source: Described) -> None:
        """Change an existing source; raise `Conflict` when the service rejects the change."""
        ...

    async def disable_feed(self, ref: str, reason: str) -> None:
        """Report that a source's feed failed too often; raise `Conflict` when the service rejects the report."""
        ...

    async def enable_feed(self, ref: str) -> None:
        """Report that a source's feed is readable again; raise `Conflict` when the service rejects the report."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class SourceLookup(Protocol):
    """The directory of sources."""

    async def get(self, ref: str) -> CrawlSource | None:
        """Return one source; None when unknown. Raises `Unavailable` when the lookup fails."""
        ...

    async def ref_of(self, source_id: int) -> str:
        """Return the public id of the source with that number."""
        ...

    async def all(self) -> list[CrawlSource]:
        """Return every source. Raises `Unavailable` when sources cannot be listed."""
        ...


class Delivery(msgspec.Struct, frozen=True):
    """A message, and the number of its deliveries."""

    id: str
    body: bytes | None
    times: int = 1


class SourceEvents(Protocol):
    """A queue of messages, each redelivered until settled. Raises `Unavailable` when the queue is away."""

    async def receive(self) -> Sequence[Delivery]:
        """Wait a little for messages: unsettled messages of other consumers first, then new ones."""
        ...

    async def acknowledge(self, ids: Sequence[str]) -> None:
        """Acknowledge messages."""
        ...

    async def park(self, delivery: Delivery, why: str) -> None:
        """Put a message that cannot be handled aside, and settle it."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
