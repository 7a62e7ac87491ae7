"""Named counters, shared by all processes."""

from collections.abc import Mapping
from typing import Protocol


class CounterStore(Protocol):
    """Counters by name, shared by all processes."""

    async def add(self, counts: Mapping[str, int]) -> None:
        """Add to counters."""
        ...

    async def put(self, name: str, count: int) -> None:
        """Set a counter."""
        ...

    async def all(self) -> dict[str, int]:
        """Return every counter."""
        ...
