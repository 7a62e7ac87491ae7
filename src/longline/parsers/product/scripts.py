"""Data in the scripts of pages, such as initial states; no script is run."""

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from longline.html.loose_json import MAX_SCRIPT_CHARS, literal, parse_json

MAX_VISITED_VALUES = 50_000
"""Most values of a script's data that are visited."""

_ASSIGNED = re.compile(
    r"(?:window\.|self\.|var |let |const )?(?:(?<![A-Z_])__[A-Z_]+__|dataLayer|digitalData|utag_data|"
    r"ShopifyAnalytics\.meta|var meta|product(?:Data|Json|Info|Detail)?|pageData|initialState)\s*"
    r"(?:=|\.push\s*\()\s*(?=[\[{])"
)


def script_data(tree: LexborHTMLParser) -> Iterator[Any]:
    """Yield the data of the page's scripts: JSON elements, and literals assigned to well-known names."""
    for node in tree.css("script:not([src])"):
        kind, text = (node.attributes.get("type") or "").lower(), node.text()
        if not text or len(text) > MAX_SCRIPT_CHARS or "ld+json" in kind:
            continue
        if "json" in kind or (node.attributes.get("id") or "") == "__NEXT_DATA__":
            yield parse_json(text)
        else:
            yield from _assigned(text)


def _assigned(text: str) -> Iterator[Any]:
    for found in _ASSIGNED.finditer(text):
        yield literal(text, found.end())


def objects(data: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every object, breadth first, each with the object that contains it."""
    waiting: list[tuple[Any, dict[str, Any]]] = [(data, {})]
    for _ in range(MAX_VISITED_VALUES):
        if not waiting:
            return
        value, outer = waiting.pop(0)
        if isinstance(value, dict):
            yield value, outer
            waiting += [(inner, value) for inner in value.values() if isinstance(inner, dict | list)]
        elif isinstance(value, list):
            waiting += [(inner, outer) for inner in value if isinstance(inner, dict | list)]
