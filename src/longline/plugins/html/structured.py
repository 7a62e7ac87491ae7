"""What a page says of itself for machines: JSON-LD, metas, microdata and RDFa, however carelessly it was written."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.model.cached_property import cached_property
from longline.plugins.html.loose_json import parse_json

MAX_CLIMB = 256
"""How many parents are asked whose property something is."""

MAX_SHARED = 100
"""How many items may name the same element as theirs."""

_PREFIXED = re.compile(r'"(?:schema:|https?://schema\.org/)(\w+"\s*:)')
_VALUES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    "object": "data",
    "data": "value",
    "meter": "value",
    "time": "datetime",
}

_REFERRED = (
    *("author", "publisher", "image", "brand", "offers", "priceSpecification", "aggregateRating", "mainEntity"),
    "hasVariant",
)

_SAYING = ("@value", "name", "@list", "@set")
_LEADING = ("url", "contentUrl", "@id", "@list", "@set")

Thing = dict[str, Any]
"""An object of schema.org: properties by name, and its `@type`."""


class _Syntax(NamedTuple):
    """What the attributes are called by which elements say what they are; `refers` names elements elsewhere."""

    scope: str
    kind: str
    property: str
    refers: str


_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop", "itemref")
_RDFA = _Syntax("typeof", "typeof", "property", "")


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

    @cached_property
    def rdfa(self) -> list[Thing]:
        """Every thing that the page's RDFa describes, as far as RDFa Lite goes, in the shape of JSON-LD."""
        return _items(self._tree, _RDFA)

    def meta(self, *names: str) -> str:
        """The first of these metas that says something, without line breaks and runs of spaces; empty if none does."""
        return next((" ".join(content.split()) for name in names for content in self.metas.get(name, ())), "")


def json_ld(tree: LexborHTMLParser) -> list[Thing]:
    """Every object of the page's JSON-LD, those of lists and graphs one by one, with those in it that it only names."""
    scripts = tree.css("script[type*='ld+json' i]")
    # Some write the names of properties with the vocabulary before them.
    texts = (_PREFIXED.sub(r'"\1', script.text()) for script in scripts)
    things = [thing for text in texts for thing in _things(parse_json(text), depth=0)]
    named = {name: thing for thing in reversed(things) if isinstance(name := thing.get("@id"), str)}
    # What those name in turn stays a name, or there might be no end.
    return [thing | {of: _meant(thing[of], named) for of in _REFERRED if of in thing} for thing in things]


def _meant(value: Any, named: dict[str, Thing]) -> Any:
    if isinstance(value, list):
        return [_meant(each, named) for each in value]
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
    """What kinds of thing it is, without the address of the vocabulary."""
    kinds = thing.get("@type")
    return frozenset(_bare(str(kind)) for kind in as_list(kinds))


def _bare(name: str) -> str:
    """A name without its vocabulary, written out or as a prefix."""
    return name.rpartition("/")[2].rpartition(":")[2]


def as_list(value: Any) -> list[Any]:
    """One or several of something, as several."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def things_of(value: Any) -> list[Thing]:
    """The things among one or several of something; what is only a text or a number is none."""
    return [each for each in as_list(value) if isinstance(each, dict)]


def words_of(value: Any) -> str:
    """The text of a property that may be a text, a number, a thing with a name or a list of these."""
    if isinstance(value, dict):
        return words_of(next((value[key] for key in _SAYING if value.get(key)), None))
    if isinstance(value, list):
        return ", ".join(dict.fromkeys(filter(None, map(words_of, value))))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    # JSON knows no references of HTML, but many write them there.
    return " ".join(unescape(str(value)).split())


def links_of(value: Any) -> list[str]:
    """The addresses in a property that may be texts or things with an address."""
    found: list[str] = []
    for each in as_list(value):
        if isinstance(each, dict):
            found += links_of(next((each[key] for key in _LEADING if each.get(key)), None))
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
    return _items(tree, _MICRODATA)


def _items(tree: LexborHTMLParser, syntax: _Syntax) -> list[Thing]:
    scopes: dict[int, Thing] = {}
    for node in tree.css(f"[{syntax.scope}]"):
        scopes[node.mem_id] = {"@type": (node.attributes.get(syntax.kind) or "").split()}
    referred = _referred(tree, syntax, scopes) if syntax.refers else {}
    inner: set[int] = set()
    for node in tree.css(f"[{syntax.property}]"):
        value = scopes.get(node.mem_id) or _value(node)
        for owner in _owners(node, scopes, referred):
            inner.add(node.mem_id)
            for name in (node.attributes[syntax.property] or "").split():
                _add(owner, _bare(name), value)
    return [thing for key, thing in scopes.items() if key not in inner]


def _referred(tree: LexborHTMLParser, syntax: _Syntax, scopes: dict[int, Thing]) -> dict[int, list[Thing]]:
    """The elements elsewhere that items name as theirs, each with those items."""
    naming = tree.css(f"[{syntax.scope}][{syntax.refers}]")
    owners: dict[str, list[Thing]] = {}
    for node in naming:
        for name in dict.fromkeys((node.attributes[syntax.refers] or "").split()):
            sharing = owners.setdefault(name, [])
            if len(sharing) < MAX_SHARED:
                sharing.append(scopes[node.mem_id])
    # What is around an item that names others might come round to itself.
    around = {node.mem_id for node in naming} | {parent.mem_id for node in naming for parent in _parents(node)}
    places = tree.css("[id]") if owners else []
    return {place.mem_id: owners[place.id] for place in places if place.id in owners and place.mem_id not in around}


def _parents(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None:
            return
        yield parent
        parent = parent.parent


def _owners(node: LexborNode, scopes: dict[int, Thing], referred: dict[int, list[Thing]]) -> Iterator[Thing]:
    """The item that it stands in, and before that those that name it or something around it there."""
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
    return named if named is not None else _seen(node)


def _seen(node: LexborNode) -> str:
    """What a reader sees of an element, in one line."""
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
