"""A service elsewhere that keeps sources: asked for them, and told of their feeds."""

from typing import Any, Protocol

import msgspec

Described = dict[str, Any]
"""A source in the words of the service."""


class Listed(msgspec.Struct, frozen=True):
    """One page of its list; `total` sources and `pages` are there in all, as far as it says so."""

    sources: list[Described]
    total: int | None = None
    pages: int | None = None


class Curator(Protocol):
    """Each call raises `Unavailable` when the service is away, does not let us in, or answers what cannot be read."""

    async def page(self, number: int, *, feed_active: bool = False) -> Listed:
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
