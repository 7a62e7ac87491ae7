"""Rhythms: how often the start pages of sources change; and tallies, which outlive the process that keeps them."""

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Rhythm(msgspec.Struct, frozen=True):
    """What a source's start page was at its last run, since when, and how often it was found unchanged."""

    digest: str
    changed_at: int
    unchanged: int
    interval_ms: int


class Rhythms(Protocol):
    """Remembers one rhythm for each source. Raises `Unavailable` when it cannot."""

    async def get(self, source_ref: str) -> Rhythm | None:
        """What is known of a source."""
        ...

    async def keep(self, source_ref: str, rhythm: Rhythm) -> None:
        """Remember it."""
        ...

    async def forget(self, source_ref: str) -> None:
        """Forget a source."""
        ...


class Tallies(Protocol):
    """Remembers numbers by name, for all processes together."""

    async def add(self, counts: Mapping[str, int]) -> None:
        """Add to numbers."""
        ...

    async def put(self, name: str, count: int) -> None:
        """Set a number."""
        ...

    async def all(self) -> dict[str, int]:
        """Every number."""
        ...
