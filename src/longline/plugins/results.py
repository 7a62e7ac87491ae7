"""Results of a parser: items and links."""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.model.search.item import ItemKey
from longline.plugins.parser_errors import ParserMistake


@dataclass(init=False)
class Item:
    """An item extracted from a page, with free fields: `Item("article", title="…")`.

    With a key, `Item("book", isbn, title="…")` or `Item("chapter", (series, number), …)`, an item is the same in every
    run and on every page. Without a key, or with an empty one, kind, URL and place on the page identify the item.
    """

    kind: str
    fields: dict[str, Any]
    key: ItemKey = None

    def __init__(self, kind: str, key: ItemKey = None, /, **fields: Any) -> None:
        if not isinstance(key, str | int | tuple | None):
            raise ParserMistake(f"the key of an item is a text, a number or a tuple of these, not {type(key).__name__}")
        for name, value in fields.items():
            _check_field(name, value)
        self.kind = kind
        self.fields = fields
        self.key = key


def _check_field(name: str, value: object) -> None:
    """Raise `ParserMistake` for an object that only the page has: nodes, methods and generators cannot be stored."""
    if isinstance(value, str | int | float | None):
        return
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            _check_field(name, inner)
    elif isinstance(value, LexborNode | LexborHTMLParser):
        raise ParserMistake(f"field {name} is a node of the page; take its text() or an attribute of it")
    elif inspect.isroutine(value):
        raise ParserMistake(f"field {name} is a method; call it with parentheses: {value.__name__}()")
    elif inspect.isgenerator(value):
        raise ParserMistake(f"field {name} is a generator; make a list of it with list(…)")


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


class Child(msgspec.Struct, frozen=True):
    """A URL that is submitted as a child of the page's recrawl, as that of a related product.

    Priority, frequency and batch are those of the page. Pages that were not submitted by their URLs have no children.
    """

    url: str


REASON = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""Form of a reason: one word in lower case, as in the table of a run's fates."""


class Refused(msgspec.Struct, frozen=True):
    """Links that the parser does not follow, or without URLs the page itself, of which the parser makes no item.

    A run counts both under the reason.
    """

    reason: str
    urls: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not REASON.fullmatch(self.reason):
            raise ValueError(f"the reason {self.reason!r} must be one word of a-z, 0-9 and _")
