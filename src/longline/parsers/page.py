"""Any HTML page: its title, and the pages it leads to."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from longline.plugins import Item, Link, Page, parser

_FOLLOWED = "a[href]:not([rel~='nofollow' i]), area[href]:not([rel~='nofollow' i])"


class Extract(NamedTuple):
    """What every page has: a title, and links in order, each once, as URLs that can be fetched."""

    title: str
    links: list[str]


def extract(page: Page) -> Extract:
    """Title and links in one go, for whoever needs nothing else and many of them."""
    return Extract(page.title, page.links(_FOLLOWED))


@parser("page")
async def page(page: Page) -> AsyncIterator[Item | Link]:
    """The title as an item, and every link that may be followed."""
    found = extract(page)
    yield Item("page", title=found.title, url=page.url)
    for url in found.links:
        yield Link(url)
