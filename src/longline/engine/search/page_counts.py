"""Counts of indexed pages for all processes together: by type, method, size, and reason for leaving a page out."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from longline.model.search.item import SearchDocument
from longline.ports.records.schedules import CounterStore

PREFIX = "pages."
"""Prefix of the counters' names; the counted field and the class of the page follow."""


CLASSES = ("type", "method", "words", "skipped")
"""Fields of the article parser that are counted."""


class PageCounts:
    """A counter of indexed pages."""

    def __init__(self, tallies: CounterStore) -> None:
        self._tallies, self._waiting = tallies, Counter[str]()

    def tell(self, documents: Sequence[SearchDocument]) -> None:
        """Count the pages among the indexed documents."""
        for document in documents:
            if document.kind == "extraction":
                said = msgspec.json.decode(document.fields)
                self._waiting.update(f"{PREFIX}{name}.{said[name]}" for name in CLASSES if said.get(name))

    async def once(self) -> None:
        """Write the counts since the last time."""
        counts, self._waiting = self._waiting, Counter()
        if counts:
            await self._tallies.add(counts)
