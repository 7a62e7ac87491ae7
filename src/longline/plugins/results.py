"""What a parser makes of a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(init=False)
class Item:
    """Something that was found on a page, with whatever fields it has: `Item("article", title="…")`."""

    kind: str
    fields: dict[str, Any]

    def __init__(self, kind: str, /, **fields: Any) -> None:
        self.kind = kind
        self.fields = fields


class Link(msgspec.Struct, frozen=True):
    """A page to fetch next; as everywhere the lower priority goes first, and 0 is that of an ordinary link.

    One that is not `deeper` is as near to the start as the page that names it: to be listed by a sitemap is no step.
    """

    url: str
    priority: int = 0
    deeper: bool = True


class Links(msgspec.Struct, frozen=True):
    """Ordinary links, all at once: most pages have many, and to name each by itself takes longer than to find it."""

    urls: Sequence[str]
