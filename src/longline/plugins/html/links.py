"""Where a page leads and what it says about being followed and indexed, by the HTML standard."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

AGENTS = frozenset(("robots", "longline"))
"""Whom rules in `meta` and in X-Robots-Tag may be addressed to, to be rules for us."""

_OF_HEAD = (
    "link[href][rel], base[href], meta[content][http-equiv=refresh i], "
    "meta[content][name=robots i], meta[content][name=longline i]"
)
_OF_BODY = "a[href]:not([rel~='nofollow' i]), area[href]:not([rel~='nofollow' i]), iframe[src], base[href]"
_ANCHORS = frozenset(("a", "area"))
_LEADING = frozenset(
    (
        *("alternate", "author", "canonical", "help", "license", "next"),
        *("prev", "privacy-policy", "search", "terms-of-service"),
    )
)
"""What makes a `link` lead to a page, where others only fetch a part of this one."""

_RESOURCE = frozenset(("stylesheet", "icon", "nofollow"))

_REFRESH = re.compile(
    r"""\s*(?:\d[\d.]*|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*|(?!url\s*=))(?:"([^"]+)|'([^']+)|([^\s"'].*))""",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
MAX_CONTENT_CHARACTERS = 10_000
"""What is read of the content of a `meta`: the longest URL, and some words."""

_FORWARDING = "meta[content][http-equiv=refresh i]"
_FEW = 10
"""Links; a page with more does not exist to forward its readers, and to look through its body for that costs."""

_WORDS = re.compile(r"[\s;]+")
_AGENT = re.compile(r"\s*([a-z][\w.-]*)\s*:", re.IGNORECASE)
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


class Outline(NamedTuple):
    """What links say as they are written, in order; `rules` are the words of robots metas, in lower case."""

    hrefs: list[str]
    base: str | None
    canonical: str | None
    rules: frozenset[str]


class RobotsMeta(frozenset[str]):
    """What robots are asked for, in lower case words such as `noindex`."""

    @property
    def follow(self) -> bool:
        """Whether links may be followed."""
        return self.isdisjoint(("nofollow", "none"))

    @property
    def noindex(self) -> bool:
        """Whether the page is not to be found by search."""
        return not self.isdisjoint(("noindex", "none"))


def outline(tree: LexborHTMLParser) -> Outline:
    """Everything that a page says about where it leads; what stands in its head leads first."""
    seen = _Seen()
    # Every selector costs, and a page of frames has nothing else.
    head, nodes = tree.head, tree.css(_OF_BODY) or tree.css("frame[src]")
    for node in head.css(_OF_HEAD) if head else ():
        seen.of_head(node)
    for node in tree.body.css(_FORWARDING) if len(nodes) <= _FEW and tree.body else ():
        seen.of_head(node)
    if not {node.tag for node in nodes} <= _ANCHORS:
        nodes = [node for node in nodes if not seen.rare(node)]
    # Anchors are most of a page: nothing is asked of them but where they lead.
    hrefs = [href for node in nodes if (href := node.attrs.get("href")) is not None]
    return Outline([*seen.hrefs, *hrefs], seen.base, seen.canonical, frozenset(seen.rules))


class _Seen:
    """What was found so far besides anchors."""

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
        """Take in what is no anchor."""
        if node.tag == "base":
            self.base = node.attributes["href"] if self.base is None else self.base
        elif node.tag not in _ANCHORS:
            self.hrefs.append(node.attributes["src"] or "")
        return node.tag not in _ANCHORS

    def _meta(self, attributes: Mapping[str, str | None]) -> None:
        content = (attributes["content"] or "")[:MAX_CONTENT_CHARACTERS]
        if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match(content)
            self.hrefs += [found[1] or found[2] or found[3]] if found else []
        elif (attributes.get("name") or "").strip().lower() in AGENTS:
            self.rules.update(_words(content))

    def _link(self, attributes: Mapping[str, str | None]) -> None:
        words = (attributes["rel"] or "").lower().split()
        href = attributes["href"] or ""
        if "canonical" in words and self.canonical is None:
            self.canonical = href
        if not _LEADING.isdisjoint(words) and _RESOURCE.isdisjoint(words):
            self.hrefs.append(href)


def header_rules(values: Iterable[str]) -> frozenset[str]:
    """The words of X-Robots-Tag headers that are meant for us."""
    found: set[str] = set()
    for value in values:
        agent = _AGENT.match(value)
        if agent is None or agent[1].lower() in _VALUED:
            found.update(_words(value))
        elif agent[1].lower() in AGENTS:
            found.update(_words(value[agent.end() :]))
    return frozenset(found)


def _words(text: str) -> list[str]:
    parts = (part.strip().lower() for part in text.split(","))
    # Some write no commas, and mean it all the same; a part with a colon has a value, spaces and all.
    return [word for part in parts for word in ((part,) if ":" in part else _WORDS.split(part))]
