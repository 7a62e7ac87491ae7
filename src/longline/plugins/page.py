"""A page as a parser sees it."""

from collections.abc import Iterable
from functools import cached_property

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from longline.model.url import join, join_all
from longline.plugins.charset import charset_of
from longline.plugins.intricacy import check_intricacy

_NO_ARTICLE = ["script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form"]

_BLOCKS = "p, div, br, h1, h2, h3, h4, h5, h6, li, dt, dd, tr, td, th, pre, blockquote, section, figcaption"


class Page:
    """What was fetched, decoded and parsed as far as somebody looks at it; `body` is without its Content-Encoding."""

    def __init__(
        self,
        url: str,
        body: bytes,
        *,
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
        content_type: str | None = None,
    ) -> None:
        self.url = url
        self.body = body
        self.status = status
        self.headers = tuple(headers)
        self.content_type = self.header("content-type") or "" if content_type is None else content_type

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @cached_property
    def html(self) -> str:
        """The text of the page; bytes that are none in its encoding are replaced."""
        name, skip = self._charset
        return self.body[skip:].decode(name, "replace")

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The parsed page; raises `TooIntricate` for one that cannot be parsed in reasonable time."""
        name, skip = self._charset
        # The parser reads UTF-8 by itself; only other encodings cost a decoding.
        markup = self.body[skip:] if name == "utf-8" else self.html.encode("utf-8", "replace")
        check_intricacy(markup)
        # Without events: with them a select of thirty thousand options takes seconds.
        return LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)

    @cached_property
    def base(self) -> str:
        """What relative links start from: the page's own URL, or its `<base href>`."""
        node = self.tree.css_first("base[href]")
        href = node.attributes.get("href") if node else None
        return (join(self.url, href) if href else None) or self.url

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

    def links(self, selector: str = "a[href]") -> list[str]:
        """Where the matching elements lead to, each once, in order, as URLs that can be fetched."""
        return join_all(self.base, hrefs(self.css(selector)))

    def article(self) -> str:
        """The main text, a line for each paragraph, by a simple rule: `article`, else `main`, else the body's rest."""
        copy = self.tree.clone()
        copy.strip_tags(_NO_ARTICLE)
        node = copy.css_first("article") or copy.css_first("main") or copy.body
        if node is None:
            return ""
        for block in node.css(_BLOCKS):
            block.insert_before("\n")
            block.insert_after("\n")
        return "\n".join(line for part in node.text().split("\n") if (line := _spaced(part)))

    @cached_property
    def _charset(self) -> tuple[str, int]:
        return charset_of(self.body, self.content_type)


def hrefs(nodes: Iterable[LexborNode]) -> list[str]:
    """The `href` of each element that has one, as written."""
    return [href for node in nodes if (href := node.attrs.get("href")) is not None]


def _spaced(text: str) -> str:
    return " ".join(text.split())
