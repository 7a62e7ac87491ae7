"""Items by the CSS selectors of a source's config: `{"selectors": {"kind": {"field": "selector"}}}`.

A selector may end with `@name` for an attribute instead of the text. Of the fields, `container` says where each item
stands (unless given, there is one on the page) and `exclude` what is taken away first. The group `list` gives no items:
its `container`, `article_cards` and `article_list` say where links are followed, its `exclude_from_list` where not.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.parsers.extraction import drop, select, select_all, text_of
from longline.plugins import Item, Links, Page, parser
from longline.plugins.page import joined

_LISTS = ("container", "article_cards", "article_list")
_PLACES = frozenset(("container", "exclude"))
_SINGLE = frozenset(("article", "page", "product"))
"""Kinds of which a page has one, however often the container is found."""


@parser("selectors", match=())
def selectors(page: Page) -> Iterator[Item | Links]:
    """An item for each group of selectors that finds something, and the links that may be followed."""
    groups = groups_of(page)
    yield Links(_links(page, groups.get("list", {})))
    for kind, fields in groups.items():
        if kind != "list":
            for found in select_fields(page, kind, fields):
                yield Item(kind, **({"url": page.url} | found))


def groups_of(page: Page) -> dict[str, Mapping[str, Any]]:
    """The groups of selectors that the source's config has; what has another shape is passed over."""
    given = page.config.get("selectors")
    groups = given.items() if isinstance(given, Mapping) else ()
    return {str(kind): fields for kind, fields in groups if isinstance(fields, Mapping)}


def select_fields(page: Page, kind: str, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a group of selectors finds, once for each of its containers."""
    tree = page.tree.clone()
    drop(tree, fields.get("exclude"))
    for scope in _scopes(tree, kind, fields.get("container")):
        found = {name: _value(scope, how) for name, how in fields.items() if name not in _PLACES}
        if found := {name: value for name, value in found.items() if value}:
            yield found


def _scopes(tree: LexborHTMLParser, kind: str, container: object) -> list[LexborHTMLParser] | list[LexborNode]:
    if not container:
        return [tree]
    return select_all(tree, container)[: 1 if kind in _SINGLE else None]


def _value(scope: LexborHTMLParser | LexborNode, how: object) -> str | list[str]:
    """The text or attribute that a selector finds; all of them for a selector in a list."""
    if isinstance(how, list):
        return [text for each in how for node in select_all(scope, _css(each)) if (text := _text(node, each))]
    node = select(scope, _css(how))
    return _text(node, how) if node is not None else ""


def _css(how: object) -> str:
    return str(how).rpartition("@")[0].strip() if "@" in str(how) else str(how)


def _text(node: LexborNode, how: object) -> str:
    _, at, attribute = str(how).rpartition("@")
    return (node.attributes.get(attribute.strip()) or "").strip() if at else text_of(node)


def _links(page: Page, where: Mapping[str, Any]) -> list[str]:
    places = [str(where[name]) for name in _LISTS if where.get(name)]
    if not places or not page.rules.follow:
        return page.links()
    tree = page.tree.clone()
    drop(tree, where.get("exclude_from_list"))
    nodes = [link for place in places for node in select_all(tree, place) for link in _anchors(node)]
    return joined(page, (href for node in nodes if (href := node.attributes.get("href")) is not None))


def _anchors(node: LexborNode) -> list[LexborNode]:
    return [node] if node.tag == "a" else node.css("a[href]:not([rel~='nofollow' i])")
