"""The index: items by their words. The index can always be rebuilt from the items."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.search.item import SearchDocument
from longline.model.search.query import Matches, SearchQuery


class Search(Protocol):
    """An index of items. Raises `Unavailable` when it cannot be used."""

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        """Index documents in one batch; known documents are replaced, so a repeat is harmless."""
        ...

    async def query(self, query: SearchQuery) -> Matches:
        """Return one page of the matching items, in the order of the query."""
        ...

    async def nearest(self, word: str) -> str | None:
        """Return the vocabulary word nearest to an unknown word; None when none is near, or the word is known."""
        ...

    async def maintain(self) -> None:
        """Maintain the index so that queries stay fast; to be called now and then in quiet moments."""
        ...

    async def check(self) -> str:
        """Prove that the index answers; return a short description."""
        ...

    async def close(self) -> None:
        """Close the index."""
        ...
