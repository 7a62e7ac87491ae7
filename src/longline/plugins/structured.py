"""What a page says of itself for machines: JSON-LD, metas and microdata, however carelessly it was written."""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_SCRIPT = 4 * 1024 * 1024
"""Characters of one script; a larger one says nothing of use."""

MAX_CLIMB = 256
"""How many parents are asked whose property something is."""

_INSIDE = re.compile(r"[\[{].*[\]}]", re.DOTALL)
_LAST_COMMA = re.compile(r",(\s*[}\]])")
_VALUES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    "object": "data",
    "data": "value",
    "meter": "value",
    "time": "datetime",
}

Thing = dict[str, Any]
"""An object of schema.org: properties by name, and its `@type`."""


class Data:
    """What one page says for machines, as far as somebody looks at it."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    @cached_property
    def metas(self) -> dict[str, list[str]]:
        """What every meta says, by its name or property in lower case."""
        return metas(self._tree)

    @cached_property
    def json_ld(self) -> list[Thing]:
        """Every object of the page's JSON-LD."""
        return json_ld(self._tree)

    @cached_property
    def microdata(self) -> list[Thing]:
        """Every item of the page's microdata, in the shape of JSON-LD."""
        return microdata(self._tree)

    def meta(self, *names: str) -> str:
        """The first of these metas that says something, without line breaks and runs of spaces; empty if none does."""
        return next((" ".join(content.split()) for name in names for content in self.metas.get(name, ())), "")


def json_ld(tree: LexborHTMLParser) -> list[Thing]:
    """Every object of the page's JSON-LD, those of lists and graphs one by one."""
    scripts = tree.css("script[type*='ld+json' i]")
    return [thing for script in scripts for thing in _things(parse_json(script.text()), depth=0)]


def parse_json(text: str) -> Any:
    """JSON as pages write it: in comments, with line breaks in strings and a comma too many; None if it is none."""
    found = _INSIDE.search(text.replace("<![CDATA[", "").replace("]]>", "")) if len(text) <= MAX_SCRIPT else None
    if found is None:
        return None
    for attempt in (found[0], _LAST_COMMA.sub(r"\1", found[0])):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _things(value: Any, depth: int) -> Iterator[Thing]:
    if depth > 8:
        return
    if isinstance(value, list):
        for each in value:
            yield from _things(each, depth + 1)
    elif isinstance(value, dict):
        if "@graph" in value:
            yield from _things(value["@graph"], depth + 1)
        if len(value.keys() - {"@graph", "@context", "@id"}):
            yield value


def types_of(thing: Thing) -> frozenset[str]:
    """What kinds of thing it is, without the address of the vocabulary."""
    kinds = thing.get("@type")
    return frozenset(str(kind).rpartition("/")[2].rpartition(":")[2] for kind in as_list(kinds))


def as_list(value: Any) -> list[Any]:
    """One or several of something, as several."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def words_of(value: Any) -> str:
    """The text of a property that may be a text, a number, a thing with a name or a list of these."""
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    if isinstance(value, list):
        return ", ".join(dict.fromkeys(filter(None, map(words_of, value))))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())


def links_of(value: Any) -> list[str]:
    """The addresses in a property that may be texts or things with an address."""
    found: list[str] = []
    for each in as_list(value):
        if isinstance(each, dict):
            found += links_of(each.get("url") or each.get("contentUrl") or each.get("@id"))
        elif isinstance(each, str) and each.strip():
            found.append(each.strip())
    return found


def metas(tree: LexborHTMLParser) -> dict[str, list[str]]:
    """What every meta says, by its name or property in lower case."""
    found: dict[str, list[str]] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        content = (attributes["content"] or "").strip()
        for key in {attributes.get("property"), attributes.get("name")} if content else ():
            if key:
                found.setdefault(key.strip().lower(), []).append(content)
    return found


def microdata(tree: LexborHTMLParser) -> list[Thing]:
    """The page's microdata items that belong to no other, in the shape of JSON-LD."""
    scopes: dict[int, Thing] = {}
    for node in tree.css("[itemscope]"):
        scopes[node.mem_id] = {"@type": (node.attributes.get("itemtype") or "").split()}
    inner: set[int] = set()
    for node in tree.css("[itemprop]"):
        owner = _owner(node, scopes)
        if owner is not None:
            inner.add(node.mem_id)
            value = scopes.get(node.mem_id) or _value(node)
            for name in (node.attributes["itemprop"] or "").split():
                _add(owner, name, value)
    return [thing for key, thing in scopes.items() if key not in inner]


def _owner(node: LexborNode, scopes: dict[int, Thing]) -> Thing | None:
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None:
            return None
        if parent.mem_id in scopes:
            return scopes[parent.mem_id]
        parent = parent.parent
    return None


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    if attributes.get("content") is not None:
        return attributes["content"] or ""
    named = attributes.get(_VALUES.get(node.tag or "", ""))
    return named if named is not None else " ".join(node.text().split())


def _add(owner: Thing, name: str, value: Any) -> None:
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]
