"""The history of single items: the item as it is now, and its versions."""

from longline.model.errors import NotFound
from longline.model.search.item import ItemRow
from longline.model.search.item_changes import ItemVersion
from longline.ports.records.search import ItemChangeStore, ItemStore

MAX_VERSIONS = 100
"""Largest number of versions in one history."""


class ItemHistories:
    """Items with their versions: those of one kind, or of all."""

    def __init__(self, items: ItemStore, changes: ItemChangeStore, kind: str | None = None) -> None:
        self._items, self._changes, self._kind = items, changes, kind

    async def get(self, item_id: int) -> ItemRow:
        """Return an item; raise `NotFound` for an unknown one and for one of another kind."""
        found = await self._items.get([item_id])
        if not found or self._kind not in (None, found[0].kind):
            raise NotFound("item", item_id)
        return found[0]

    async def versions(self, item_id: int) -> list[ItemVersion]:
        """Return the versions of an item, the present one first."""
        return await self._changes.history(item_id, MAX_VERSIONS)
