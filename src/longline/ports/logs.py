"""Copies of run logs for readers outside of the platform."""

from collections.abc import Sequence
from typing import Any, Protocol

from longline.model.logs.run_log import LogMark


class LogCopies(Protocol):
    """Streams of entries, one for each schedule name. Raises `Unavailable` when the streams cannot be reached."""

    async def last(self, name: str) -> LogMark | None:
        """Return the mark of the newest copied entry."""
        ...

    async def add(self, name: str, lines: Sequence[tuple[LogMark, dict[str, Any]]]) -> None:
        """Add entries in their order; entries that were copied before stay unchanged."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
