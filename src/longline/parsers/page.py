"""Any HTML page: its title, and the pages it leads to."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from longline.plugins import Item, Link, Page, parser


class Extract(NamedTuple):
    """What every page has: a title, and links in order, each once, as URLs that can be fetched."""

    title: str
    links: list[str]


def extract(page: Page) -> Extract:
    """Title and links in one go, for whoever needs nothing else and many of them."""
    return Extract(page.title, page.links())


@parser("page", light=True)
async def page(page: Page) -> AsyncIterator[Item | Link]:
    """The title as an item, and every link that may be followed."""
    found = extract(page)
    noted = {"canonical": page.canonical} if page.canonical else {}
    yield Item("page", title=found.title, url=page.url, **noted, **({"noindex": True} if page.rules.noindex else {}))
    for url in found.links:
        yield Link(url)
