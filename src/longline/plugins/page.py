"""A page as a parser sees it."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from longline.html.article_text.article_extraction import MIN_CHARS, ExtractedArticle, extract_article
from longline.html.article_text.inline_markdown import InlineWriter, UrlResolver
from longline.html.article_text.lines import LineReader
from longline.html.article_text.markdown import markdown_of_article, markdown_of_lines, markdown_of_title
from longline.html.article_text.marked_lines import MarkedLineReader
from longline.html.charset import charset_of, decode_as, encode_as
from longline.html.links import PageLinks, page_links
from longline.html.page_text import declared_text, main_text, simple_text, with_whole_blocks
from longline.html.parse_cost import ParseCost, check_parse_cost, parse_cost_of
from longline.html.robots_meta import RobotsMeta, header_directives
from longline.html.structured_data import Data
from longline.model.cached_property import cached_property
from longline.model.urls.link_resolution import join, join_all
from longline.model.urls.url import MAX_LENGTH
from longline.plugins.parser_errors import bad_selector


class PageResponse:
    """The response of a page: the body without its Content-Encoding, decoded and parsed on first access."""

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

    def header(self, name: str) -> str | None:
        """Return the value of the first header with this name; case is ignored."""
        wanted = name.lower()
        # A loop: a generator would take twice as long, and every page has its headers looked up.
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    @cached_property
    def html(self) -> str:
        """Return the decoded text of the page; bytes that are invalid in its encoding are replaced."""
        name, skip = self._encoding
        return decode_as(name, self.body[skip:])

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """Return the parsed page; raise `TooComplex` if parsing would take too long."""
        name, skip = self._encoding
        # The parser reads UTF-8 by itself; only other encodings cost a decoding.
        markup = self.body[skip:] if name == "utf-8" else self.html.encode("utf-8", "replace")
        check_parse_cost(markup, self._parse_cost if name == "utf-8" else None)
        # Without events: with them a select of thirty thousand options takes seconds.
        return LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)

    @cached_property
    def _parse_cost(self) -> ParseCost:
        return parse_cost_of(self.body, self.url)

    @cached_property
    def _encoding(self) -> tuple[str, int]:
        """Return the encoding by the standard's name, and the length of the byte order mark."""
        return charset_of(self.body, self.content_type)


class Page(PageResponse):
    """A fetched page as a parser sees it; `config` holds the settings of its source, including its selectors."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Cached properties are not pickled: a parsed tree cannot be.
        return _unpickled, (self.url, self.body, self.status, self.headers, self.content_type, dict(self.config))

    @cached_property
    def rules(self) -> RobotsMeta:
        """Return the robots directives of the page and of its X-Robots-Tag headers."""
        headers = [value for key, value in self.headers if key.lower() == "x-robots-tag"]
        return RobotsMeta(self._outline.rules | header_directives(headers))

    @cached_property
    def base(self) -> str:
        """Return the base URL of relative links: the page's `<base href>`, or its own URL.

        A base longer than `MAX_LENGTH` is returned as empty: every URL joined to it would be too long as well.
        """
        href = self._outline.base
        base = (join(self.url, href) if href else None) or self.url
        return base if len(base) <= MAX_LENGTH else ""

    @cached_property
    def canonical(self) -> str | None:
        """Return the URL of the page's `link rel=canonical`."""
        href = self._outline.canonical
        return join(self.base, href) if href else None

    @cached_property
    def title(self) -> str:
        """Return the page's title, without line breaks and runs of spaces."""
        return self.text("title")

    def css(self, selector: str) -> list[LexborNode]:
        """Return every element that matches, in order."""
        try:
            return self.tree.css(selector)
        except SelectolaxError:
            raise bad_selector(selector) from None

    def text(self, selector: str) -> str:
        """Return the text of the first match, without line breaks and runs of spaces; empty if nothing matches."""
        try:
            node = self.tree.css_first(selector)
        except SelectolaxError:
            raise bad_selector(selector) from None
        return _collapse_spaces(node.text()) if node else ""

    def links(self, selector: str | None = None) -> list[str]:
        """Return the URLs of the matching elements or, without a selector, of all links that robots may follow.

        Each URL comes once, in order. All links are `a`, `area`, frames, a refresh, and `link` of types such as next.
        """
        if selector is not None:
            return absolute_urls(self, _link_targets(self.css(selector)))
        return absolute_urls(self, self._outline.hrefs) if self.rules.follow else []

    @cached_property
    def data(self) -> Data:
        """Return the structured data of the page."""
        return Data(self.tree)

    def article(self) -> str:
        """Return the main text, a line for each block; takes milliseconds, so a `light` parser must not call it."""
        return self._article(LineReader()).text

    def markdown(self) -> str:
        """Return the article as Markdown: title, headings, lists, tables, code, absolute links, images by their texts.

        Takes milliseconds, so a `light` parser must not call it. Nothing of the page is kept as HTML.
        """
        reader = MarkedLineReader()
        found = self._article(reader)
        title = self.title
        if found.selection is None:
            text = markdown_of_lines(found.text, title)
        else:
            text = markdown_of_article(reader, found.selection, InlineWriter(UrlResolver(self.base)))
            title = reader.page.lines[found.selection.title].text if found.selection.title >= 0 else title
        parts = (markdown_of_title(title) if title else "", text)
        return "\n".join(f"{part}\n" for part in parts if part)

    def _article(self, reader: LineReader) -> ExtractedArticle:
        found = extract_article(self.tree, self.title, self._declared_text, reader)
        if len(found.text) >= MIN_CHARS:
            return found
        # On a short page the library extracts everything, menus too, or nothing: the page's markup is more reliable.
        simple = simple_text(self.tree)
        longer = found.or_longer(with_whole_blocks(main_text(self.html), simple))
        if not longer.text or self.tree.css_first("article, main"):
            longer = longer._replace(text=simple or longer.text, selection=None)
        return longer.or_longer(self._declared_text())

    def _declared_text(self) -> str:
        """Return the longest `articleBody` of the structured data."""
        bodies = (thing.get("articleBody") for thing in (*self.data.json_ld, *self.data.microdata))
        return declared_text(max((body for body in bodies if isinstance(body, str)), key=len, default=""))

    @cached_property
    def _outline(self) -> PageLinks:
        return page_links(self.tree)


def estimated_cost(page: Page) -> ParseCost:
    """Return the estimated cost of parsing a page."""
    return page._parse_cost


def absolute_urls(page: Page, hrefs: Iterable[str]) -> list[str]:
    """Return the absolute URLs of a page's href values, each once, in order."""
    name = page._encoding[0]
    if name != "utf-8":
        hrefs = (href if href.isascii() else _with_query_as(name, href) for href in hrefs)
    return join_all(page.base, hrefs)


def _unpickled(
    url: str, body: bytes, status: int, headers: tuple[tuple[str, str], ...], content_type: str, config: dict[str, Any]
) -> Page:
    return Page(url, body, status=status, headers=headers, content_type=content_type, config=config)


def _link_targets(nodes: Iterable[LexborNode]) -> Iterator[str]:
    """Yield the `href`, else the `src`, of each element that has either, as written."""
    for node in nodes:
        attributes = node.attributes
        lead = attributes.get("href", attributes.get("src"))
        if lead is not None:
            yield lead


def _with_query_as(name: str, href: str) -> str:
    """Percent-encode the query of a link in the encoding of its page, as the server expects."""
    before, mark, rest = href.partition("?")
    query, hash_sign, fragment = rest.partition("#")
    if "#" in before or query.isascii():
        return href
    escaped = "".join(c if c.isascii() else quote(encode_as(name, c)) for c in query)
    return f"{before}{mark}{escaped}{hash_sign}{fragment}"


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
