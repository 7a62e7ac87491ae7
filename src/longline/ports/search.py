"""The index: items by the words in them. What it holds can always be made again from the items."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.search.item import SearchDocument
from longline.model.search.query import Matches, SearchQuery


class Search(Protocol):
    """An index of items. Raises `Unavailable` when it cannot be used."""

    async def index(self, documents: Sequence[SearchDocument]) -> None:
        """Take documents in, in one go; one that is there already is replaced, so a repeat is harmless."""
        ...

    async def delete(self, documents: Sequence[SearchDocument]) -> None:
        """Forget documents; one that is not there is no error."""
        ...

    async def query(self, query: SearchQuery) -> Matches:
        """One page of the items that fit, the best or the first by the asked order first."""
        ...

    async def count(self, query: SearchQuery) -> int:
        """How many items fit, exactly; paging is left out of account."""
        ...

    async def nearest(self, word: str) -> str | None:
        """The known word that is most like one that is not; None when nothing is like it, or it is known itself."""
        ...

    async def tidy(self) -> None:
        """What the index does in quiet moments to stay quick; to be called now and then."""
        ...

    async def check(self) -> str:
        """Prove that the index answers; what it is, in a few words."""
        ...

    async def close(self) -> None:
        """Let go of the index."""
        ...
