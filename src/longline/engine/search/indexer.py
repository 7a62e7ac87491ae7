"""Index: items become findable, in bulk and off the way of the crawl.

What waits is remembered in the transaction that put the item, and struck off after the index has it. A crash in between
means that it is indexed twice, which changes nothing.
"""

import logging
from collections.abc import Callable, Sequence

from longline.model.search.item import SearchDocument
from longline.ports.records.search import ItemStore
from longline.ports.search import Search

log = logging.getLogger(__name__)

BATCH = 200
"""Items to a transaction: on SQLite the crawl's own reports wait behind it for some 30 ms."""

Tell = Callable[[Sequence[SearchDocument]], None]
"""Hears what was indexed."""


class Indexer:
    """Brings the index up to date with the items."""

    def __init__(self, items: ItemStore, search: Search, batch: int = BATCH, tell: Tell | None = None) -> None:
        self._items, self._search, self._batch, self._tell = items, search, batch, tell

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        """Index a batch; when this returns, the index has it and nobody waits any more."""
        await self._search.index(documents)
        await self._items.indexed(documents)
        if self._tell is not None:
            self._tell(documents)

    async def once(self) -> int:
        """Index everything that waits; how much that was."""
        done = 0
        while waiting := await self._items.unindexed(self._batch):
            await self.index(waiting)
            done += len(waiting)
        if done:
            log.debug("indexed", extra={"items": done})
        return done

    async def tidy(self) -> None:
        """Let the index do what keeps it quick; for quiet moments, some minutes apart."""
        await self._search.tidy()
