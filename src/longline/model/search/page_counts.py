"""Counts of pages that were read: by type, method, size, and reason for leaving a page out."""

from collections import Counter
from collections.abc import Iterable

import orjson

from longline.model.search.item import ItemFacts

PREFIX = "pages."
"""Prefix of the counters' names; the counted field and the class of the page follow."""

EXTRACTION = "extraction"
"""Kind of the items that say how a page was read."""

CLASSES = ("type", "method", "words", "skipped")
"""Fields of the article parser that are counted."""


def page_counts(items: Iterable[ItemFacts]) -> Counter[str]:
    """Return the counters of the pages that these items describe."""
    counts = Counter[str]()
    for item in items:
        if item.kind == EXTRACTION:
            said = orjson.loads(item.fields)
            counts.update(f"{PREFIX}{name}.{said[name]}" for name in CLASSES if said.get(name))
    return counts
