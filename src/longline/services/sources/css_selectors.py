"""CSS selectors that users write into the config of a source, checked before they are stored."""

from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from longline.model.errors import BadInput

_HINT = "the text of an element needs no ::text, and @name at the end stands for an attribute"


def check_selectors(groups: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a selector that cannot be parsed; values of another shape are no selectors."""
    empty = LexborHTMLParser("")
    for name, selector in _named_selectors(groups):
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
