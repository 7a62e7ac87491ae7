"""Extraction of a page's article: by the lines of the page, and on short pages by other methods as well."""

from collections.abc import Callable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.lines import LineReader, PageLines
from longline.html.article_text.selection import Selection, select_article

MIN_SURE_CHARS = 500
"""Characters below which an article is extracted by other methods too; another text must be twice as long."""

MIN_CHARS = 200
"""Characters below which the slow methods are tried as well, on about one of 200 pages of articles."""


class ExtractedArticle(NamedTuple):
    """The article of a page: its text, a line for each block, and the lines it was taken from.

    Without a `selection` the text is from elsewhere than the lines of the page.
    """

    text: str
    page: PageLines
    selection: Selection | None = None

    def or_longer(self, text: str, times: int = 1) -> "ExtractedArticle":
        """Return the article with another text, if that is so many times as long."""
        return ExtractedArticle(text, self.page) if len(text) > times * len(self.text) else self


def extract_article(
    tree: LexborHTMLParser, title: str, declared: Callable[[], str], reader: LineReader | None = None
) -> ExtractedArticle:
    """Return the article of a page; `declared` returns the text that the structured data of the page declares."""
    reader = reader or LineReader()
    page = reader.read(tree.body) if tree.body is not None else reader.page
    found = _selected(page, title, by_name=True)
    if len(found.text) >= MIN_SURE_CHARS:
        return found
    unnamed = _selected(page, title, by_name=False)
    if len(unnamed.text) > 2 * len(found.text):
        found = unnamed
    return found.or_longer(declared(), 2) if len(found.text) < MIN_SURE_CHARS else found


def _selected(page: PageLines, title: str, *, by_name: bool) -> ExtractedArticle:
    selection = select_article(page, title, by_name=by_name)
    return ExtractedArticle(selection.text(page), page, selection)
