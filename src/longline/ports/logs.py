"""Copies of logs, for readers who know nothing of ours."""

from collections.abc import Sequence
from typing import Any, Protocol

from longline.model.logs import LogMark


class LogCopies(Protocol):
    """Streams of entries by the name of a schedule. Raises `Unavailable` when they are away."""

    async def last(self, name: str) -> LogMark | None:
        """The newest entry that is there."""
        ...

    async def add(self, name: str, lines: Sequence[tuple[LogMark, dict[str, Any]]]) -> None:
        """Add entries in their order; those that are there are left alone."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
