"""Structured data of a page: JSON-LD, metas, microdata and RDFa, read leniently."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.html.loose_json import parse_json
from longline.model.cached_property import cached_property

MAX_ANCESTORS = 256
"""Most ancestors that are searched for the item of a property."""

MAX_ITEMS_PER_REFERENCE = 100
"""Most items that may refer to the same element by `itemref`."""

_PREFIXED = re.compile(r'"(?:schema:|https?://schema\.org/)(\w+"\s*:)')
_VALUES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    "object": "data",
    "data": "value",
    "meter": "value",
    "time": "datetime",
}

_LINKED_PROPERTIES = (
    *("author", "publisher", "image", "brand", "offers", "priceSpecification", "aggregateRating", "mainEntity"),
    "hasVariant",
)

_TEXT_PROPERTIES = ("@value", "name", "@list", "@set")
_URL_PROPERTIES = ("url", "contentUrl", "@id", "@list", "@set")

Thing = dict[str, Any]
"""An object of schema.org: properties by name, and its `@type`."""


class _Syntax(NamedTuple):
    """Attribute names of a syntax, microdata or RDFa; `refers` is the attribute that lists elements elsewhere."""

    scope: str
    kind: str
    property: str
    refers: str


_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", "itemref")
_RDFA = _Syntax("typeof", "typeof", "property", "")


class Data:
    """Structured data of one page, read on first access."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    @cached_property
    def metas(self) -> dict[str, list[str]]:
        """Return the contents of all metas, by name or property in lower case."""
        return metas(self._tree)

    @cached_property
    def json_ld(self) -> list[Thing]:
        """Return every object of the page's JSON-LD."""
        return json_ld(self._tree)

    @cached_property
    def microdata(self) -> list[Thing]:
        """Return the page's top-level microdata items, in the shape of JSON-LD."""
        return microdata(self._tree)

    @cached_property
    def rdfa(self) -> list[Thing]:
        """Return the page's top-level RDFa Lite items, in the shape of JSON-LD."""
        return _items(self._tree, _RDFA)

    def meta(self, *names: str) -> str:
        """Return the first content of these metas, without line breaks and runs of spaces; empty without any."""
        return next((" ".join(content.split()) for name in names for content in self.metas.get(name, ())), "")


def json_ld(tree: LexborHTMLParser) -> list[Thing]:
    """Return every object of the page's JSON-LD, lists and graphs flattened, references by `@id` resolved once."""
    scripts = tree.css("script[type*='ld+json' i]")
    # Some pages write property names with the prefix of the vocabulary.
    texts = (_PREFIXED.sub(r'"\1', script.text()) for script in scripts)
    things = [thing for text in texts for thing in _things(parse_json(text), depth=0)]
    named = {name: thing for thing in reversed(things) if isinstance(name := thing.get("@id"), str)}
    # References inside of resolved objects stay, since they may be circular.
    return [thing | {of: _resolved(thing[of], named) for of in _LINKED_PROPERTIES if of in thing} for thing in things]


def _resolved(value: Any, named: dict[str, Thing]) -> Any:
    if isinstance(value, list):
        return [_resolved(each, named) for each in value]
    only_named = isinstance(value, dict) and value.keys() == {"@id"} and isinstance(value["@id"], str)
    return named.get(value["@id"], value) if only_named else value


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
    """Return the types of an object, without the URL of the vocabulary."""
    kinds = thing.get("@type")
    return frozenset(_local_name(str(kind)) for kind in as_list(kinds))


def _local_name(name: str) -> str:
    """Return a name without the URL or prefix of its vocabulary."""
    return name.rpartition("/")[2].rpartition(":")[2]


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, and any other value as a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def things_of(value: Any) -> list[Thing]:
    """Return the objects of a property with one or several values; texts and numbers are dropped."""
    return [each for each in as_list(value) if isinstance(each, dict)]


def text_value(value: Any) -> str:
    """Return the text of a property that may be a text, a number, an object with a name or a list of these."""
    if isinstance(value, dict):
        return text_value(next((value[key] for key in _TEXT_PROPERTIES if value.get(key)), None))
    if isinstance(value, list):
        return ", ".join(dict.fromkeys(filter(None, map(text_value, value))))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    # JSON has no character references, but many pages write them there.
    return " ".join(unescape(str(value)).split())


def url_values(value: Any) -> list[str]:
    """Return the URLs of a property with texts or objects with a URL as values."""
    found: list[str] = []
    for each in as_list(value):
        if isinstance(each, dict):
            found += url_values(next((each[key] for key in _URL_PROPERTIES if each.get(key)), None))
        elif isinstance(each, str) and each.strip():
            found.append(each.strip())
    return found


def metas(tree: LexborHTMLParser) -> dict[str, list[str]]:
    """Return the contents of all metas, by name or property in lower case."""
    found: dict[str, list[str]] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        content = (attributes["content"] or "").strip()
        for key in {attributes.get("property"), attributes.get("name")} if content else ():
            if key:
                found.setdefault(key.strip().lower(), []).append(content)
    return found


def microdata(tree: LexborHTMLParser) -> list[Thing]:
    """Return the page's top-level microdata items, in the shape of JSON-LD."""
    return _items(tree, _MICRODATA)


def _items(tree: LexborHTMLParser, syntax: _Syntax) -> list[Thing]:
    scopes: dict[int, Thing] = {}
    for node in tree.css(f"[{syntax.scope}]"):
        scopes[node.mem_id] = {"@type": (node.attributes.get(syntax.kind) or "").split()}
    referred = _items_by_reference(tree, syntax, scopes) if syntax.refers else {}
    inner: set[int] = set()
    for node in tree.css(f"[{syntax.property}]"):
        value = scopes.get(node.mem_id) or _value(node)
        for owner in _owners(node, scopes, referred):
            inner.add(node.mem_id)
            for name in (node.attributes[syntax.property] or "").split():
                _add(owner, _local_name(name), value)
    return [thing for key, thing in scopes.items() if key not in inner]


def _items_by_reference(tree: LexborHTMLParser, syntax: _Syntax, scopes: dict[int, Thing]) -> dict[int, list[Thing]]:
    """Return the items that refer to an element by `itemref`, by the element's `mem_id`."""
    naming = tree.css(f"[{syntax.scope}][{syntax.refers}]")
    owners: dict[str, list[Thing]] = {}
    for node in naming:
        for name in dict.fromkeys((node.attributes[syntax.refers] or "").split()):
            sharing = owners.setdefault(name, [])
            if len(sharing) < MAX_ITEMS_PER_REFERENCE:
                sharing.append(scopes[node.mem_id])
    # An element that contains a referring item could make the item contain itself.
    around = {node.mem_id for node in naming} | {parent.mem_id for node in naming for parent in _parents(node)}
    places = tree.css("[id]") if owners else []
    return {place.mem_id: owners[place.id] for place in places if place.id in owners and place.mem_id not in around}


def _parents(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    for _ in range(MAX_ANCESTORS):
        if parent is None:
            return
        yield parent
        parent = parent.parent


def _owners(node: LexborNode, scopes: dict[int, Thing], referred: dict[int, list[Thing]]) -> Iterator[Thing]:
    """Yield the items that refer to the node or to an ancestor within its item, then the item that contains it."""
    below = node
    for parent in _parents(node):
        yield from referred.get(below.mem_id, ())
        if parent.mem_id in scopes:
            yield scopes[parent.mem_id]
            return
        below = parent


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    if attributes.get("content") is not None:
        return attributes["content"] or ""
    named = attributes.get(_VALUES.get(node.tag or "", ""))
    return named if named is not None else _visible_text(node)


def _visible_text(node: LexborNode) -> str:
    """Return the visible text of an element, in one line."""
    text, at = node.text(), 0
    pieces = []
    for unseen in (inner.text() for inner in node.css("script, style")):
        found = text.find(unseen, at)
        pieces.append(text[at:found])
        at = found + len(unseen)
    return " ".join(" ".join((*pieces, text[at:])).split())


def _add(owner: Thing, name: str, value: Any) -> None:
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]
