"""How pages were read, counted for all processes together: by type, by method, by size, and why they were left out."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from longline.model.search.item import SearchDocument
from longline.ports.records.schedules import CounterStore

PREFIX = "pages."
"""What the names of these tallies begin with; then come what is counted, and the class that a page is in."""


CLASSES = ("type", "method", "words", "skipped")
"""What the parser of articles says of every page."""


class PageCounts:
    """Hears what is indexed, and keeps count of it."""

    def __init__(self, tallies: CounterStore) -> None:
        self._tallies, self._waiting = tallies, Counter[str]()

    def tell(self, documents: Sequence[SearchDocument]) -> None:
        """Count the pages among what was indexed."""
        for document in documents:
            if document.kind == "extraction":
                said = msgspec.json.decode(document.fields)
                self._waiting.update(f"{PREFIX}{name}.{said[name]}" for name in CLASSES if said.get(name))

    async def once(self) -> None:
        """Write what was counted since the last time."""
        counts, self._waiting = self._waiting, Counter()
        if counts:
            await self._tallies.add(counts)
