"""Indexing of items, in bulk and apart from the crawl.

The transaction that writes an item marks it as unindexed; the mark is removed after the index has the item. A crash in
between indexes the item twice, which changes nothing.
"""

import logging
from collections.abc import Callable, Sequence

from longline.model.search.item import SearchDocument
from longline.ports.records.search import ItemStore
from longline.ports.search import Search

log = logging.getLogger(__name__)

BATCH_SIZE = 200
"""Items of one transaction: on SQLite, the crawl's own reports wait some 30 ms for the transaction."""

Notify = Callable[[Sequence[SearchDocument]], None]
"""Function that is called with the indexed documents."""


class Indexer:
    """An indexer that brings the index up to date with the items."""

    def __init__(self, items: ItemStore, search: Search, batch: int = BATCH_SIZE, notify: Notify | None = None) -> None:
        self._items, self._search, self._batch, self._notify = items, search, batch, notify

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        """Index a batch, then mark its items as indexed."""
        await self._search.index(documents)
        await self._items.indexed(documents)
        if self._notify is not None:
            self._notify(documents)

    async def once(self) -> int:
        """Index all unindexed items; return their number."""
        done = 0
        while waiting := await self._items.unindexed(self._batch):
            await self.index(waiting)
            done += len(waiting)
        if done:
            log.debug("indexed", extra={"items": done})
        return done

    async def maintain(self) -> None:
        """Run the maintenance of the index; for quiet moments, some minutes apart."""
        await self._search.maintain()
