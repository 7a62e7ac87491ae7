"""Items made of pages, and the queue of items to be indexed."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.archive.page import PageRow
from longline.model.search.gone_items import MissingItem, UnreadPages
from longline.model.search.item import MAX_POSITION, ItemRow, ItemsPut, NewItem, RunItem, SearchDocument, Wordiness
from longline.model.search.item_changes import ItemSums, ItemVersion, RunsCompared


class ItemStore(Protocol):
    """Items. An item that is put again keeps its id; new and changed items wait for the index.

    An item that changes leaves its former self as a version. Each run keeps the versions that it found.
    """

    async def put(self, items: Sequence[NewItem], pages: Sequence[PageRow] = ()) -> ItemsPut:
        """Save items outside a report. The pages have these items and no others.

        A page that was stored anew since its row was read keeps the items that it has; its items here are left out.
        """
        ...

    async def get(self, ids: Sequence[int]) -> list[ItemRow]:
        """Return items by id, in the given order; unknown ids are left out."""
        ...

    async def newest(self, kind: str | None, before: int | None, limit: int) -> list[ItemRow]:
        """Return items of a kind, or of all kinds, the newest first; `before` continues a list behind an id."""
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


class ItemChangeStore(Protocol):
    """Versions of items, by run."""

    async def between(self, before: int, after: int) -> list[RunsCompared]:
        """Return the items that are in one of two runs only, or in both with different versions."""
        ...

    async def missing(self, before: int, after: int) -> list[MissingItem]:
        """Return the pages that had items in the earlier run which the later run did not find; by item."""
        ...

    async def unread(self, before: int, after: int) -> list[UnreadPages]:
        """Return the pages that the later run did not read."""
        ...

    async def sums(self, run_id: int) -> ItemSums:
        """Return the numbers of items that a run found, added and changed."""
        ...

    async def history(self, item_id: int, limit: int) -> list[ItemVersion]:
        """Return the versions of an item, the present one first."""
        ...

    async def selves(self, run_id: int, versions: Sequence[tuple[int, int, int]]) -> dict[int, ItemRow]:
        """Return versions of items by item, each asked for by item, version and the task of its page in the run."""
        ...
