"""CSS selectors that users write into the config of a source, checked before they are stored."""

from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from longline.model.errors import BadInput

MAX_SELECTOR_CHARACTERS = 2048
MAX_SELECTORS = 200
"""Largest length and number of the selectors of a source: parsing them takes time in proportion to their length."""

_HINT = "the text of an element needs no ::text, and @name at the end stands for an attribute"


def check_selectors(groups: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a selector that cannot be used; values of another shape are no selectors."""
    empty = LexborHTMLParser("")
    for number, (name, selector) in enumerate(_named_selectors(groups), start=1):
        if number > MAX_SELECTORS:
            raise BadInput(f"there are more than {MAX_SELECTORS} CSS selectors")
        if len(selector) > MAX_SELECTOR_CHARACTERS:
            raise BadInput(f"{name}: the CSS selector is longer than {MAX_SELECTOR_CHARACTERS} characters")
        css = selector.rpartition("@")[0] if "@" in selector else selector
        if not css.strip():
            continue
        try:
            empty.css(css)
        except (SelectolaxError, ValueError):
            raise BadInput(f"{name}: bad CSS selector {selector[:200]!r}; {_HINT}") from None


def _named_selectors(groups: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each selector with its place, like `selectors.article.title`."""
    for group, fields in groups.items():
        for field, value in fields.items() if isinstance(fields, Mapping) else ():
            for selector in value if isinstance(value, list) else [value]:
                if isinstance(selector, str):
                    yield f"selectors.{group}.{field}", selector
