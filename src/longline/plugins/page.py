"""A page as a parser sees it."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from longline.model.cached_property import cached_property
from longline.model.url import MAX_LENGTH, join, join_all
from longline.plugins.html.charset import charset_of, decode_as, encode_as
from longline.plugins.html.links import Outline, RobotsMeta, header_rules, outline
from longline.plugins.html.maintext import main_text, simple_text
from longline.plugins.html.parse_cost import check_intricacy
from longline.plugins.html.structured import Data

ENOUGH_LETTERS = 250
"""A main text with fewer is looked for again in other ways; letters, since not every script has spaces."""


class Page:
    """What was fetched, decoded and parsed as far as somebody looks at it.

    `body` is without its Content-Encoding; `config` is what was said about the page's source, its selectors among it.
    """

    def __init__(
        self,
        url: str,
        body: bytes,
        *,
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
        content_type: str | None = None,
        config: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.url = url
        self.body = body
        self.status = status
        self.headers = tuple(headers)
        self.content_type = self.header("content-type") or "" if content_type is None else content_type
        self.config = config

    def __reduce__(self) -> tuple[Any, ...]:
        # What was looked at so far is not carried to another process: a tree cannot be.
        return _carried, (self.url, self.body, self.status, self.headers, self.content_type, dict(self.config))

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @cached_property
    def html(self) -> str:
        """The text of the page; bytes that are none in its encoding are replaced."""
        name, skip = self._encoding
        return decode_as(name, self.body[skip:])

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The parsed page; raises `TooComplex` for one that cannot be parsed in reasonable time."""
        name, skip = self._encoding
        # The parser reads UTF-8 by itself; only other encodings cost a decoding.
        markup = self.body[skip:] if name == "utf-8" else self.html.encode("utf-8", "replace")
        check_intricacy(markup)
        # Without events: with them a select of thirty thousand options takes seconds.
        return LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)

    @cached_property
    def rules(self) -> RobotsMeta:
        """What the page and its headers ask of robots."""
        headers = (value for key, value in self.headers if key.lower() == "x-robots-tag")
        return RobotsMeta(self._outline.rules | header_rules(headers))

    @cached_property
    def base(self) -> str:
        """What relative links start from: the page's own URL, or its `<base href>`.

        A base that is longer than a URL may be is empty: whatever starts from it is too long as well.
        """
        href = self._outline.base
        base = (join(self.url, href) if href else None) or self.url
        return base if len(base) <= MAX_LENGTH else ""

    @cached_property
    def canonical(self) -> str | None:
        """The URL that the page calls its own, by its `link`."""
        href = self._outline.canonical
        return join(self.base, href) if href else None

    @cached_property
    def title(self) -> str:
        """The page's title, without line breaks and runs of spaces."""
        return self.text("title")

    def css(self, selector: str) -> list[LexborNode]:
        """Every element that matches, in order."""
        return self.tree.css(selector)

    def text(self, selector: str) -> str:
        """The text of the first element that matches, without line breaks and runs of spaces; empty if none does."""
        node = self.tree.css_first(selector)
        return _spaced(node.text()) if node else ""

    def links(self, selector: str | None = None) -> list[str]:
        """Where the page leads to, each URL once, in order: by what matches, or by all that robots may follow.

        The latter are anchors and areas, frames, a refresh, and what `link` calls next, canonical and the like.
        """
        if selector is not None:
            return joined(self, _leads(self.css(selector)))
        return joined(self, self._outline.hrefs) if self.rules.follow else []

    @cached_property
    def data(self) -> Data:
        """What the page says of itself for machines."""
        return Data(self.tree)

    def article(self) -> str:
        """The main text, a line for each paragraph; costs milliseconds, so whoever calls it is not `light`."""
        found = main_text(self.html)
        if len(found) >= ENOUGH_LETTERS:
            return found
        # Of a short page the library takes everything, menus too, or nothing: its own marks say more.
        marked = simple_text(self.tree) if not found or self.tree.css_first("article, main") else ""
        said = max(self._article_bodies(), key=len, default="")
        return said if len(said) > max(len(found), len(marked)) else marked or found

    def _article_bodies(self) -> Iterator[str]:
        for thing in (*self.data.json_ld, *self.data.microdata):
            body = thing.get("articleBody")
            if isinstance(body, str) and "<" not in body:
                yield "\n".join(line for part in body.splitlines() if (line := _spaced(part)))

    @cached_property
    def _outline(self) -> Outline:
        return outline(self.tree)

    @cached_property
    def _encoding(self) -> tuple[str, int]:
        """The encoding by the standard's name, and how many bytes of mark stand before the text."""
        return charset_of(self.body, self.content_type)


def joined(page: Page, hrefs: Iterable[str]) -> list[str]:
    """Where links that are written like this on a page lead to, each once, in order."""
    name = page._encoding[0]
    if name != "utf-8":
        hrefs = (href if href.isascii() else _with_query_as(name, href) for href in hrefs)
    return join_all(page.base, hrefs)


def _carried(
    url: str, body: bytes, status: int, headers: tuple[tuple[str, str], ...], content_type: str, config: dict[str, Any]
) -> Page:
    return Page(url, body, status=status, headers=headers, content_type=content_type, config=config)


def _leads(nodes: Iterable[LexborNode]) -> Iterator[str]:
    """The `href`, else the `src`, of each element that has one, as written."""
    for node in nodes:
        attributes = node.attributes
        lead = attributes.get("href", attributes.get("src"))
        if lead is not None:
            yield lead


def _with_query_as(name: str, href: str) -> str:
    """A link whose query is percent-encoded in the encoding of its page, which is what the server expects."""
    before, mark, rest = href.partition("?")
    query, hash_sign, fragment = rest.partition("#")
    if "#" in before or query.isascii():
        return href
    escaped = "".join(c if c.isascii() else quote(encode_as(name, c)) for c in query)
    return f"{before}{mark}{escaped}{hash_sign}{fragment}"


def _spaced(text: str) -> str:
    return " ".join(text.split())
