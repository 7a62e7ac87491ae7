"""Items: what was made of pages, and which of them the index has yet to learn of."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.search.item import ItemRow, NewItem, SearchDocument, Wordiness


class ItemStore(Protocol):
    """Remembers items. One that is put again keeps its id; what is new or changed waits for the index."""

    async def put(self, items: Sequence[NewItem]) -> int:
        """Remember items outside a report; how many were new or had changed."""
        ...

    async def get(self, ids: Sequence[int]) -> list[ItemRow]:
        """Items by their ids, in that order; those that do not exist are left out."""
        ...

    async def of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[ItemRow]:
        """Items that a run saw last, by id."""
        ...

    async def of_kind(self, kind: str, *, after: int = 0, limit: int = 100) -> list[ItemRow]:
        """Items of a kind, by id."""
        ...

    async def unindexed(self, limit: int) -> list[SearchDocument]:
        """Items that the index does not know as they are now, the oldest first."""
        ...

    async def indexed(self, documents: Sequence[SearchDocument]) -> None:
        """Say that the index knows these as they were read; what has changed since goes on waiting."""
        ...

    async def wordiness(self, least: int) -> list[Wordiness]:
        """How many words documents have, source by source, the fewest first; `least` of them are enough."""
        ...

    async def waiting(self) -> int:
        """How many items wait for the index."""
        ...
