"""Sources: places to crawl."""

from typing import Protocol

from longline.model.source import NewSource, SourceRow


class Sources(Protocol):
    """Remembers sources."""

    async def add(self, source: NewSource) -> SourceRow:
        """Register a source; the one that is there when the name is taken."""
        ...

    async def limit(self, source_id: int, budget: int | None) -> SourceRow | None:
        """Bound how many URLs all runs of a source together may admit, past ones included; None for no bound."""
        ...

    async def get(self, source_id: int) -> SourceRow | None:
        """One source."""
        ...

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[SourceRow]:
        """Sources by name."""
        ...
