"""Items made of pages, and the queue of items to be indexed."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.search.item import MAX_POSITION, ItemRow, NewItem, RunItem, SearchDocument, Wordiness


class ItemStore(Protocol):
    """Items. An item that is put again keeps its id; new and changed items wait for the index."""

    async def put(self, items: Sequence[NewItem]) -> int:
        """Save items outside a report; return the number of new or changed items."""
        ...

    async def get(self, ids: Sequence[int]) -> list[ItemRow]:
        """Return items by id, in the given order; unknown ids are left out."""
        ...

    async def of_run(
        self, run_id: int, *, after: int = 0, until: int = MAX_POSITION, limit: int = 100
    ) -> list[RunItem]:
        """Return items of a run in the order in which they came, behind the position `after` and up to `until`.

        Positions become visible in their order: a reader that goes on after its last position misses no item. An item
        that changes during the run moves to the end, and such a reader gets it again.
        """
        ...

    async def last_position(self, run_id: int) -> int:
        """Return the position of the item that came last in a run; 0 for a run without items."""
        ...

    async def unindexed(self, limit: int) -> list[SearchDocument]:
        """Return new and changed items that are not indexed yet, oldest first."""
        ...

    async def indexed(self, documents: Sequence[SearchDocument]) -> None:
        """Mark documents as indexed in the version that was read; items changed since keep waiting."""
        ...

    async def wordiness(self, least: int) -> list[Wordiness]:
        """Return word counts of documents by source, fewest first; `least` words are enough for a document."""
        ...

    async def waiting(self) -> int:
        """Return the number of items that wait for the index."""
        ...
