"""Data that pages leave in their scripts for themselves; it is read, never run."""

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from longline.plugins.html.loose_json import MAX_SCRIPT, literal, parse_json

MAX_VISITED = 50_000
"""How many values of a script's data are looked at."""

_ASSIGNED = re.compile(
    r"(?:window\.|self\.|var |let |const )?(?:(?<![A-Z_])__[A-Z_]+__|dataLayer|digitalData|utag_data|"
    r"ShopifyAnalytics\.meta|var meta|product(?:Data|Json|Info|Detail)?|pageData|initialState)\s*"
    r"(?:=|\.push\s*\()\s*(?=[\[{])"
)


def script_data(tree: LexborHTMLParser) -> Iterator[Any]:
    """What the page's scripts hold: JSON in elements of that type, and what is given to well-known names."""
    for node in tree.css("script:not([src])"):
        kind, text = (node.attributes.get("type") or "").lower(), node.text()
        if not text or len(text) > MAX_SCRIPT or "ld+json" in kind:
            continue
        if "json" in kind or (node.attributes.get("id") or "") == "__NEXT_DATA__":
            yield parse_json(text)
        else:
            yield from _assigned(text)


def _assigned(text: str) -> Iterator[Any]:
    for found in _ASSIGNED.finditer(text):
        yield literal(text, found.end())


def objects(data: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every object inside, those further out first, each with the one that it lies in."""
    waiting: list[tuple[Any, dict[str, Any]]] = [(data, {})]
    for _ in range(MAX_VISITED):
        if not waiting:
            return
        value, outer = waiting.pop(0)
        if isinstance(value, dict):
            yield value, outer
            waiting += [(inner, value) for inner in value.values() if isinstance(inner, dict | list)]
        elif isinstance(value, list):
            waiting += [(inner, outer) for inner in value if isinstance(inner, dict | list)]
