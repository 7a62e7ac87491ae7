"""Sources that another service keeps, as far as they are known here."""

from collections.abc import Collection, Sequence
from typing import Protocol

from longline.model.source import CuratedSource, SourceRow


class CuratedSources(Protocol):
    """Follows a curator, and remembers what it is still to be told. The rules are in `model/curator.py`."""

    async def get(self, ref: str) -> SourceRow | None:
        """One source by its id there."""
        ...

    async def take(self, sources: Sequence[CuratedSource], asked_at: int) -> int:
        """Take over what was said of sources, new ones among them; how many changed.

        What changed here after it was asked for is newer, and stays. A source of our own that has the name of a new one
        is that one from now on.
        """
        ...

    async def present(self) -> list[str]:
        """The ids there of all that the curator has, as far as is known."""
        ...

    async def withdraw(self, refs: Collection[str]) -> None:
        """The curator no longer has these; they come back when it has."""
        ...

    async def claim(self, limit: int, hold_ms: int) -> list[SourceRow]:
        """Sources of whose feeds the curator is to be told something; nobody else gets them meanwhile."""
        ...

    async def release(self, sources: Sequence[SourceRow]) -> None:
        """The curator could not be told of these: anybody may try."""
        ...

    async def told(self, source: SourceRow) -> None:
        """The curator knows the feed as it is in this row; what changed since is still to be told."""
        ...
