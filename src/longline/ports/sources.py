"""A service elsewhere that keeps sources: asked for them, and told of their feeds."""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from longline.model.sources.source import CrawlSource

Described = dict[str, Any]
"""A source in the words of the service."""


class ListedSource(msgspec.Struct, frozen=True):
    """One page of its list; `total` sources and `pages` are there in all, as far as it says so."""

    sources: list[Described]
    total: int | None = None
    pages: int | None = None


class SourceManager(Protocol):
    """Each call raises `Unavailable` when the service is away, does not let us in, or answers what cannot be read."""

    async def page(self, number: int, *, feed_active: bool = False) -> ListedSource:
        """Sources in pages from 1 on; with `feed_active` only those whose feeds are to be polled."""
        ...

    async def get(self, ref: str) -> Described | None:
        """One source; None when there is none."""
        ...

    async def put(self, ref: str, source: Described) -> None:
        """Change a source that is there; `Conflict` when the service does not take it."""
        ...

    async def disable_feed(self, ref: str, reason: str) -> None:
        """The feed of a source failed too often; `Conflict` when the service does not take that."""
        ...

    async def enable_feed(self, ref: str) -> None:
        """The feed of a source can be read again; `Conflict` when the service does not take that."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class SourceLookup(Protocol):
    """Looks sources up."""

    async def get(self, ref: str) -> CrawlSource | None:
        """One source; None when there is none. Raises `Unavailable` when that cannot be known."""
        ...

    async def called(self, source_id: int) -> str:
        """What the source of that number is called outside."""
        ...

    async def all(self) -> list[CrawlSource]:
        """Every source. Raises `Unavailable` when they cannot be listed."""
        ...


class Delivery(msgspec.Struct, frozen=True):
    """A message, and how often it was handed out."""

    id: str
    body: bytes | None
    times: int = 1


class SourceEvents(Protocol):
    """A queue of messages, each handed out again until it is settled. Raises `Unavailable` when it is away."""

    async def receive(self) -> Sequence[Delivery]:
        """Wait a little for messages: those that others left lying, then new ones."""
        ...

    async def settle(self, ids: Sequence[str]) -> None:
        """Say that messages are done with."""
        ...

    async def park(self, delivery: Delivery, why: str) -> None:
        """Put a message aside that nobody can do anything with, and settle it."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
