"""Extraction of a page's content: by the source's selectors, by a known template, or by heuristics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from longline.html.page_text import lines_of
from longline.html.tree_copy import copy_tree
from longline.parsers.cms_templates import template_of
from longline.plugins import Page

_COMMON_SELECTORS = ("article", "main", ".content", ".post-content", ".entry-content", "[role=main]", "[role=article]")
_NOT_BODY_TEXT = ["header", "footer", "nav", "aside", "menu", "script", "style"]
_NOISE = (
    "nav",
    "menu",
    "sidebar",
    "header",
    "footer",
    "ad-",
    "banner",
    "promo",
    "comment",
    "social",
    "related",
    "widget",
)
_LEAST_CHARACTERS, _LEAST_DENSE, _NEARLY_BEST = 50, 200, 0.8
_MIN_PARAGRAPH_CHARS = 20


@dataclass(frozen=True)
class PageContent:
    """The extracted content: its markup, its text, the method, and the title if a selector found one."""

    markup: str
    text: str
    method: str
    title: str = ""


def extract(page: Page, selectors: Mapping[str, Any], hint: str = "") -> PageContent:
    """Return the content of a page; the page itself is not modified."""
    tree = copy_tree(page.tree)
    remove_excluded(tree, selectors.get("exclude"))
    found = _by_name(page, tree, selectors, hint)
    if found.text:
        return found
    node = _by_heuristics(tree)
    return PageContent(_html(node), _text(node), "heuristic", found.title)


def _by_name(page: Page, tree: LexborHTMLParser, selectors: Mapping[str, Any], hint: str) -> PageContent:
    """Extract by the source's selectors or, if the source has none, by those of a template."""
    if any(selectors.get(name) for name in ("container", "body", "title")):
        return _selected(tree, selectors, "selector")
    template = template_of(page, hint)
    if template is None:
        return PageContent("", "", "heuristic")
    return _selected(
        tree, {"container": template.container, "body": template.body, "title": template.title}, "template"
    )


def select(tree: LexborHTMLParser | LexborNode, selector: object) -> LexborNode | None:
    """Return the first match of a selector from a source's config; an invalid selector matches nothing."""
    if not isinstance(selector, str) or not selector.strip():
        return None
    try:
        return tree.css_first(selector)
    except (SelectolaxError, ValueError):
        return None


def text_of(node: LexborNode | None) -> str:
    """Return the text of a node in one line; for meta, link, time and img the attribute that holds the value."""
    if node is None:
        return ""
    attributes = node.attributes
    inside = {"meta": "content", "link": "href", "time": "datetime", "img": "src"}.get(node.tag or "", "")
    return " ".join((attributes.get(inside) or node.text()).split())


def select_all(tree: LexborHTMLParser | LexborNode, selector: object) -> list[LexborNode]:
    """Return every match of a selector from a source's config; an invalid selector matches nothing."""
    try:
        return tree.css(selector) if isinstance(selector, str) and selector.strip() else []
    except (SelectolaxError, ValueError):
        return []


def remove_excluded(tree: LexborHTMLParser, excluded: object) -> None:
    """Remove the elements that a list of selectors matches."""
    for selector in excluded if isinstance(excluded, Sequence) and not isinstance(excluded, str) else ():
        for node in select_all(tree, selector):
            node.decompose()


def _selected(tree: LexborHTMLParser, selectors: Mapping[str, Any], method: str) -> PageContent:
    title = text_of(select(tree, selectors.get("title")))
    container = select(tree, selectors.get("container"))
    body = select(container if container is not None else tree, selectors.get("body"))
    if body is None:
        body = select(tree, selectors.get("body"))
    markup = _html(container if container is not None else body)
    return PageContent(markup, _text(body if body is not None else container), method, title)


def _by_heuristics(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in _COMMON_SELECTORS:
        node = tree.css_first(selector)
        if node is not None and len(node.text(strip=True)) > _LEAST_CHARACTERS:
            return node
    return densest(tree) or _body(tree)


def densest(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the block with most text outside of links, or a smaller block inside of it with nearly as much."""
    scored = sorted(_scores(tree), key=lambda each: each[0], reverse=True)
    if not scored:
        return None
    score, best = scored[0]
    inner = {node.mem_id for node in best.css("div, section, article, main")} - {best.mem_id}
    near = (node for s, node in reversed(scored) if node.mem_id in inner and s >= _NEARLY_BEST * score)
    return next(near, best)


def _scores(tree: LexborHTMLParser) -> Iterator[tuple[float, LexborNode]]:
    for node in tree.css("div, section, article, main"):
        named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}".lower()
        text = len(node.text(strip=True))
        if text >= _LEAST_DENSE and not any(word in named for word in _NOISE):
            linked = sum(len(link.text(strip=True)) for link in node.css("a"))
            yield max(text - linked, 0) ** 2 / text, node


def _body(tree: LexborHTMLParser) -> LexborNode | None:
    tree.strip_tags(_NOT_BODY_TEXT)
    return tree.body


def _html(node: LexborNode | None) -> str:
    return (node.html or "") if node is not None else ""


def _text(node: LexborNode | None) -> str:
    if node is None:
        return ""
    copy = LexborHTMLParser(node.html or "")
    copy.strip_tags(["script", "style", "noscript", "template"])
    if copy.body is None:
        return ""
    paragraphs = [text for each in copy.css("p") if len(text := " ".join(each.text().split())) > _MIN_PARAGRAPH_CHARS]
    return lines_of(copy.body) or "\n\n".join(paragraphs)
