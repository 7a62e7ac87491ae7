"""Links of a page, by the HTML standard, with the robots directives beside them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.html.robots_meta import AGENTS, directives

_HEAD_SELECTOR = ", ".join(
    (
        *("link[href][rel]", "base[href]", "meta[content][http-equiv=refresh i]"),
        *(f"meta[content][name={agent} i]" for agent in sorted(AGENTS)),
    )
)
_BODY_SELECTOR = "a[href]:not([rel~='nofollow' i]), area[href]:not([rel~='nofollow' i]), iframe[src], base[href]"
_ANCHORS = frozenset(("a", "area"))
_PAGE_LINK_TYPES = frozenset(
    (
        *("alternate", "author", "canonical", "help", "license", "next"),
        *("prev", "privacy-policy", "search", "terms-of-service"),
    )
)
"""Link types of `link` elements that lead to a page; other types load a resource of the same page."""

_RESOURCE_LINK_TYPES = frozenset(("stylesheet", "icon", "nofollow"))

_REFRESH = re.compile(
    r"""\s*(?:\d[\d.]*|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*|(?!url\s*=))(?:"([^"]+)|'([^']+)|([^\s"'].*))""",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
MAX_META_CHARS = 10_000
"""Most characters read of the content of a `meta`: enough for the longest URL and some words."""

_REFRESH_SELECTOR = "meta[content][http-equiv=refresh i]"
_MAX_LINKS_OF_FORWARDING_PAGE = 10
"""Most links with which a page's body is searched for a refresh, since the search costs; forwarding pages have few."""


class PageLinks(NamedTuple):
    """The links of a page as written, in order; `rules` are the words of robots metas, in lower case."""

    hrefs: list[str]
    base: str | None
    canonical: str | None
    rules: frozenset[str]


def page_links(tree: LexborHTMLParser) -> PageLinks:
    """Return the links and robots directives of a page; links of its head come first."""
    seen = _LinkCollector()
    # Every selector costs, and a page of frames has no other links.
    head, nodes = tree.head, tree.css(_BODY_SELECTOR) or tree.css("frame[src]")
    for node in head.css(_HEAD_SELECTOR) if head else ():
        seen.of_head(node)
    for node in tree.body.css(_REFRESH_SELECTOR) if len(nodes) <= _MAX_LINKS_OF_FORWARDING_PAGE and tree.body else ():
        seen.of_head(node)
    if not {node.tag for node in nodes} <= _ANCHORS:
        nodes = [node for node in nodes if not seen.rare(node)]
    # Most links are anchors: only their href is read.
    hrefs = [href for node in nodes if (href := node.attrs.get("href")) is not None]
    return PageLinks([*seen.hrefs, *hrefs], seen.base, seen.canonical, frozenset(seen.rules))


class _LinkCollector:
    """Collected links and rules of all elements except anchors."""

    def __init__(self) -> None:
        self.hrefs: list[str] = []
        self.base: str | None = None
        self.canonical: str | None = None
        self.rules: set[str] = set()

    def of_head(self, node: LexborNode) -> None:
        attributes = node.attributes
        if node.tag == "meta":
            self._meta(attributes)
        elif node.tag == "link":
            self._link(attributes)
        elif self.base is None:
            self.base = attributes["href"]

    def rare(self, node: LexborNode) -> bool:
        """Collect a `base` or a frame; return False for an anchor."""
        if node.tag == "base":
            self.base = node.attributes["href"] if self.base is None else self.base
        elif node.tag not in _ANCHORS:
            self.hrefs.append(node.attributes["src"] or "")
        return node.tag not in _ANCHORS

    def _meta(self, attributes: Mapping[str, str | None]) -> None:
        content = (attributes["content"] or "")[:MAX_META_CHARS]
        if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match(content)
            self.hrefs += [found[1] or found[2] or found[3]] if found else []
        elif (attributes.get("name") or "").strip().lower() in AGENTS:
            self.rules.update(directives(content))

    def _link(self, attributes: Mapping[str, str | None]) -> None:
        words = (attributes["rel"] or "").lower().split()
        href = attributes["href"] or ""
        if "canonical" in words and self.canonical is None:
            self.canonical = href
        if not _PAGE_LINK_TYPES.isdisjoint(words) and _RESOURCE_LINK_TYPES.isdisjoint(words):
            self.hrefs.append(href)
