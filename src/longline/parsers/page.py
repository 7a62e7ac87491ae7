"""Any HTML page: its title, its text, and the pages it leads to."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from longline.plugins import Item, Links, Page, parser

_SILENT = ["script", "style", "noscript"]
"""What is no text; what a template holds is not among what its element holds."""


class PageExtract(NamedTuple):
    """What every page has: a title, and links in order, each once, as URLs that can be fetched."""

    title: str
    links: list[str]


def extract(page: Page) -> PageExtract:
    """Title and links in one go, for whoever needs nothing else and many of them."""
    return PageExtract(page.title, page.links())


def whole_text(page: Page) -> str:
    """Every word of the page, without line breaks. What is no text is taken out of its tree: nothing else follows."""
    page.tree.strip_tags(_SILENT)
    body = page.tree.body
    return " ".join(body.text(separator=" ").split()) if body is not None else ""


@parser("page", light=True)
async def page(page: Page) -> AsyncIterator[Item | Links]:
    """Title and text as an item, the text only if it may be found by it, and every link that may be followed."""
    found = extract(page)
    noted = {"canonical": page.canonical} if page.canonical else {}
    said = {"noindex": True} if page.rules.noindex else {"text": whole_text(page)}
    yield Item("page", title=found.title, url=page.url, **noted, **said)
    yield Links(found.links)
