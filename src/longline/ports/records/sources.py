"""Sources: places to crawl."""

from typing import Protocol

from longline.model.source import NewSource, SourceQuery, SourceRow


class Sources(Protocol):
    """Remembers sources."""

    async def add(self, source: NewSource) -> SourceRow:
        """Register a source; the one that is there when the name is taken."""
        ...

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; `Conflict` when the name is taken."""
        ...

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        """Bound how many URLs all runs of a source together may admit, past ones included; None for no bound."""
        ...

    async def get(self, source_id: int) -> SourceRow | None:
        """One source."""
        ...

    async def called(self, ref: str) -> SourceRow | None:
        """One source by the id that it has at its curator, else by its number."""
        ...

    async def identified(self, identity_key: str) -> SourceRow | None:
        """The source with that identity."""
        ...

    async def find(self, query: SourceQuery | None = None, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        """Sources by name, unless another order is wanted."""
        ...

    async def count(self, query: SourceQuery) -> int:
        """How many there are of those."""
        ...

    async def change(self, source: SourceRow, was: SourceRow | None = None) -> SourceRow | None:
        """Write a source as it is now; None when it is gone or no longer what it `was`. `Conflict` for a taken name."""
        ...

    async def remove(self, source_id: int) -> bool:
        """Forget a source; schedules and runs stay without it."""
        ...
