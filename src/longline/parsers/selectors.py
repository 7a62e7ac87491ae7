"""Items by the CSS selectors of a source's config: `{"selectors": {"kind": {"field": "selector"}}}`.

A selector may end with `@name` for an attribute instead of the text. The field `container` selects the element of each
item (default: the page is one item), and `exclude` the elements to remove first. The group `list` gives no items:
links are followed inside of its `container`, `article_cards` and `article_list`, except in `exclude_from_list`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.html.tree_copy import copy_tree
from longline.parsers.page_content import remove_excluded, select, select_all, text_of
from longline.plugins import Item, Links, Page, parser
from longline.plugins.page import absolute_urls

_LISTS = ("container", "article_cards", "article_list")
_NOT_FIELDS = frozenset(("container", "exclude"))
_SINGLE_ITEM_KINDS = frozenset(("article", "page", "product"))
"""Kinds of which a page has one item; further containers are ignored."""


@parser("selectors", match=())
def selectors(page: Page) -> Iterator[Item | Links]:
    """Yield the links that may be followed, and the items of each group of selectors."""
    groups = groups_of(page)
    yield Links(followed_links(page, groups.get("list", {})))
    for kind, fields in groups.items():
        if kind != "list":
            for found in select_fields(page, kind, fields):
                yield Item(kind, **({"url": page.url} | found))


def groups_of(page: Page) -> dict[str, Mapping[str, Any]]:
    """Return the groups of selectors in the source's config; values of another shape are ignored."""
    given = page.config.get("selectors")
    groups = given.items() if isinstance(given, Mapping) else ()
    return {str(kind): fields for kind, fields in groups if isinstance(fields, Mapping)}


def select_fields(page: Page, kind: str, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields that a group of selectors finds, once for each of its containers."""
    tree = copy_tree(page.tree)
    remove_excluded(tree, fields.get("exclude"))
    for scope in _scopes(tree, kind, fields.get("container")):
        found = {name: _value(scope, how) for name, how in fields.items() if name not in _NOT_FIELDS}
        if found := {name: value for name, value in found.items() if value}:
            yield found


def _scopes(tree: LexborHTMLParser, kind: str, container: object) -> list[LexborHTMLParser] | list[LexborNode]:
    if not container:
        return [tree]
    return select_all(tree, container)[: 1 if kind in _SINGLE_ITEM_KINDS else None]


def _value(scope: LexborHTMLParser | LexborNode, how: object) -> str | list[str]:
    """Return the text or attribute of a selector's first match; for selectors in a list those of all matches."""
    if isinstance(how, list):
        return [text for each in how for node in select_all(scope, _css(each)) if (text := _text(node, each))]
    node = select(scope, _css(how))
    return _text(node, how) if node is not None else ""


def _css(how: object) -> str:
    return str(how).rpartition("@")[0].strip() if "@" in str(how) else str(how)


def _text(node: LexborNode, how: object) -> str:
    _, at, attribute = str(how).rpartition("@")
    return (node.attributes.get(attribute.strip()) or "").strip() if at else text_of(node)


def followed_links(page: Page, where: Mapping[str, Any]) -> list[str]:
    """Return the links inside the elements of a group of selectors; all links of the page without such elements."""
    places = [str(where[name]) for name in _LISTS if where.get(name)]
    if not places or not page.rules.follow:
        return page.links()
    tree = copy_tree(page.tree)
    remove_excluded(tree, where.get("exclude_from_list"))
    nodes = [link for place in places for node in select_all(tree, place) for link in _anchors(node)]
    return absolute_urls(page, (href for node in nodes if (href := node.attributes.get("href")) is not None))


def _anchors(node: LexborNode) -> list[LexborNode]:
    return [node] if node.tag == "a" else node.css("a[href]:not([rel~='nofollow' i])")
