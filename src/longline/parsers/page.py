"""The parser of any HTML page: title, text and links."""

from collections.abc import Iterator
from typing import NamedTuple

from longline.plugins import Item, Links, Page, parser

_INVISIBLE = ["script", "style", "noscript"]
"""Elements without visible text; the content of a template is no child of its element, so `text()` skips it."""


class PageExtract(NamedTuple):
    """The title of a page, and its links in order, each once, as URLs that can be fetched."""

    title: str
    links: list[str]


def extract(page: Page) -> PageExtract:
    """Return title and links, for callers that need nothing else of many pages."""
    return PageExtract(page.title, page.links())


def whole_text(page: Page) -> str:
    """Return all text of the page on one line; removes scripts and styles from its tree, so it must be called last."""
    page.tree.strip_tags(_INVISIBLE)
    body = page.tree.body
    return " ".join(body.text(separator=" ", skip_empty=True).split()) if body is not None else ""


@parser("page", light=True)
def page(page: Page) -> Iterator[Item | Links]:
    """Yield title and text as an item, without the text if robots may not index it, and every link to follow."""
    found = extract(page)
    noted = {"canonical": page.canonical} if page.canonical else {}
    said = {"noindex": True} if page.rules.noindex else {"text": whole_text(page)}
    yield Item("page", title=found.title, url=page.url, **noted, **said)
    yield Links(found.links)
