"""Parse: what a page says and where it leads, by whichever parser the registry has for it."""

import logging

import msgspec

from longline.plugins import Item, Link, Page
from longline.plugins.registry import Registry

log = logging.getLogger(__name__)


class Parsed(msgspec.Struct, frozen=True):
    """What was made of a page; `beside` are links that lead no deeper.

    `error` is set when its parser raised: the page stays, and can be parsed again.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    error: str | None = None


class Parser:
    """Runs the parser of a page."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def parse(self, page: Page) -> Parsed:
        """Items and links of a page; a page that no parser wants has neither."""
        marked = self._registry.parser_for(page)
        if marked is None:
            return Parsed()
        items: list[Item] = []
        links: list[str] = []
        beside: list[str] = []
        try:
            async for made in marked.parse(page):
                if isinstance(made, Link):
                    (links if made.deeper else beside).append(made.url)
                else:
                    items.append(made)
        except Exception as error:
            # A parser is somebody else's code: whatever it raises is this page's fate and no reason to stop.
            log.warning("parser failed", extra={"parser": marked.name, "url": page.url, "error": repr(error)})
            return Parsed(error=f"{marked.name}: {error!r}")
        title = next((str(item.fields["title"]) for item in items if item.fields.get("title")), "")
        return Parsed(_storable(title), tuple(links), tuple(beside), tuple(items))


def _storable(text: str) -> str:
    """Text that every engine takes: no database stores half a character, and PostgreSQL no NUL."""
    return text.replace("\0", "").encode(errors="replace").decode()
