"""Data that pages leave in their scripts for themselves; it is read, never run."""

import json
import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from longline.plugins.structured import MAX_SCRIPT, parse_json

MAX_VISITED = 50_000
"""How many values of a script's data are looked at."""

_ASSIGNED = re.compile(
    r"(?:window\.|self\.|var |let |const )?(?:__[A-Z_]+__|dataLayer|digitalData|utag_data|"
    r"ShopifyAnalytics\.meta|var meta|product(?:Data|Json|Info|Detail)?|pageData|initialState)\s*"
    r"(?:=|\.push\s*\()\s*(?=[\[{])"
)
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')|(?P<comment>//[^\n]*|/\*.*?\*/)|"""
    r"""(?P<word>[A-Za-z_$][\w$]*)|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<mark>[\[\]{}:,])|(?P<space>\s+)|"""
    r"""(?P<other>.)""",
    re.DOTALL,
)
_LITERALS = frozenset(("true", "false", "null"))


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


def literal(text: str, at: int = 0) -> Any:
    """The object or list that a script writes there; None where it is more than a literal."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)[0]
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_as_json(text, at), strict=False)
    except (ValueError, RecursionError):
        return None


def _as_json(text: str, at: int) -> str:
    """A literal of JavaScript as one of JSON: quotes doubled, names quoted, the last comma dropped."""
    depth = 0
    out: list[str] = []
    for token in _TOKEN.finditer(text, at):
        kind, piece = token.lastgroup, token[0]
        if kind in ("space", "comment"):
            continue
        if kind == "mark":
            depth += (piece in "[{") - (piece in "]}")
            if piece in "]}" and out and out[-1] == ",":
                out.pop()
        out.append(_piece(str(kind), piece))
        if depth == 0:
            return "".join(out)
    raise ValueError("it does not end")


def _piece(kind: str, piece: str) -> str:
    if kind == "single":
        return json.dumps(re.sub(r"\\(['\"/])", r"\1", piece[1:-1]))
    if kind == "word":
        return piece if piece in _LITERALS else "null" if piece in ("undefined", "NaN") else json.dumps(piece)
    if kind == "other":
        raise ValueError("more than a literal")
    return piece


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
