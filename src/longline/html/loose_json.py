"""Lenient readers of JSON in pages and of JavaScript literals; no script is run."""

import json
import re
from html import unescape
from typing import Any

MAX_SCRIPT_CHARS = 4 * 1024 * 1024
"""Most characters of one script; a larger script is not read."""

MAX_REPAIRED_CHARS = 512 * 1024
"""Most characters of a script that is repaired when it is not valid JSON; repairing is slow."""

_OPENING = re.compile(r"[\[{]")
_NEXT = re.compile(r"[\s,;]*(?=[\[{])")
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')|(?P<comment>//[^\n]*|/\*.*?\*/)|"""
    r"""(?P<word>[A-Za-z_$][\w$]*)|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<mark>[\[\]{}:,])|(?P<space>\s+)|"""
    r"""(?P<other>.)""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = frozenset('"\\/bfnrtu')
_LITERALS = frozenset(("true", "false", "null"))


def parse_json(text: str) -> Any:
    """Parse JSON, also with `&quot;`, comments around or inside, trailing commas, or in pieces; None if impossible."""
    if len(text) > MAX_SCRIPT_CHARS:
        return None
    if '"' not in text and "&quot;" in text:
        text = unescape(text)
    text = text.replace("<![CDATA[", "").replace("]]>", "")
    opening, end = _OPENING.search(text), max(text.rfind("]"), text.rfind("}")) + 1
    if opening is None or end <= opening.start():
        return None
    inside = text[opening.start() : end]
    try:
        return json.loads(inside, strict=False)
    except (ValueError, RecursionError):
        return _repaired(inside)


def _repaired(text: str) -> Any:
    values: list[Any] = []
    at = 0
    try:
        while len(text) <= MAX_REPAIRED_CHARS and (opening := _NEXT.match(text, at)):
            made, at = _as_json(text, opening.end())
            values.append(json.loads(made, strict=False))
    except (ValueError, RecursionError):
        pass
    return values if len(values) > 1 else next(iter(values), None)


def literal(text: str, at: int = 0) -> Any:
    """Return the object or list literal at this place of a script; None for any other expression."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)[0]
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_as_json(text, at)[0], strict=False)
    except (ValueError, RecursionError):
        return None


def _as_json(text: str, at: int) -> tuple[str, int]:
    """Return a JavaScript literal as JSON (names quoted, the last comma dropped, and so on), and its end."""
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
        out.append(_json_token(str(kind), piece))
        if depth == 0:
            return "".join(out), token.end()
    raise ValueError("it does not end")


def _json_token(kind: str, piece: str) -> str:
    if kind == "double":
        return _ESCAPED.sub(_escape, piece) if "\\" in piece else piece
    if kind == "single":
        return json.dumps(re.sub(r"\\(['\"/])", r"\1", piece[1:-1]))
    if kind == "word":
        return piece if piece in _LITERALS else "null" if piece in ("undefined", "NaN") else json.dumps(piece)
    if kind == "other":
        raise ValueError("more than a literal")
    return piece


def _escape(found: re.Match[str]) -> str:
    """Return an escape unchanged if JSON has it, else the escaped character."""
    return found[0] if found[1] in _ESCAPES else found[1]
