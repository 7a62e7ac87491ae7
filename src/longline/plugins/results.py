"""Results of a parser: items and links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(init=False)
class Item:
    """An item extracted from a page, with free fields: `Item("article", title="…")`."""

    kind: str
    fields: dict[str, Any]

    def __init__(self, kind: str, /, **fields: Any) -> None:
        self.kind = kind
        self.fields = fields


class Link(msgspec.Struct, frozen=True):
    """A URL to fetch next; the lower priority goes first, and an ordinary link has 0.

    A link that is not `deeper` has the same depth as its page: a URL in a sitemap is no step further.
    """

    url: str
    priority: int = 0
    deeper: bool = True


class Links(msgspec.Struct, frozen=True):
    """Ordinary links in one batch: a `Link` object for each of a page's many URLs takes longer than finding them."""

    urls: Sequence[str]
