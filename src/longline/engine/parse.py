"""Parse: what a page says and where it leads, by whichever parser the registry has for it."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from longline.model.errors import BadInput
from longline.model.item import NewItem, Origin, new_items
from longline.model.task import ClaimedTask
from longline.plugins import Item, Link, Links, Page
from longline.plugins.intricacy import Effort, TooIntricate, effort_of
from longline.plugins.parser import Parser as Marked
from longline.plugins.registry import Registry

log = logging.getLogger(__name__)


class Parsed(msgspec.Struct, frozen=True):
    """What was made of a page; `beside` are links that lead no deeper.

    `priorities` has those of links that are not ordinary ones. `error` is set when its parser raised: the page stays,
    and can be parsed again.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    error: str | None = None
    priorities: dict[str, int] = {}

    def items_of(self, task: ClaimedTask, url: str, *, in_words: bool) -> list[NewItem]:
        """The items as they are remembered, with the page they were made of."""
        made = ((item.kind, item.fields) for item in self.items)
        return new_items(made, Origin(task.run_id, task.id, url), in_words=in_words)


class Elsewhere(Protocol):
    """Somebody who parses where it holds up nobody."""

    async def parse(self, parser: str, page: Page) -> Parsed:
        """What the parser of that name makes of the page."""


class Parser:
    """Runs the parser of a page: a light one here, any other `elsewhere` if there is such a place.

    The tree of a large page is built in a thread: that takes milliseconds for which the loop cannot wait.
    """

    def __init__(self, registry: Registry, elsewhere: Elsewhere | None = None) -> None:
        self._registry, self._elsewhere = registry, elsewhere

    def check(self, config: Mapping[str, Any]) -> None:
        """Refuse a config that asks for a parser that there is none of by that name."""
        name = config.get("parser")
        if name and self._registry.named(name) is None:
            known = ", ".join(sorted(parser.name for parser in self._registry.parsers))
            raise BadInput(f"there is no parser {name!r}; there are {known}")

    async def parse(self, page: Page) -> Parsed:
        """Items and links of a page; a page that no parser wants has neither."""
        named = page.config.get("parser")
        marked = self._registry.named(named) if named else self._registry.parser_for(page)
        if marked is None:
            return Parsed(error=f"there is no parser {named}" if named else None)
        if self._elsewhere is not None and not marked.light:
            return await self._elsewhere.parse(marked.name, page)
        effort = effort_of(page.body)
        if self._elsewhere is not None and effort is Effort.WILD:
            return await self._elsewhere.parse(marked.name, page)
        if effort is not Effort.LITTLE:
            await asyncio.to_thread(_build, page)
        return await run(marked, page)


def _build(page: Page) -> None:
    """Build the tree while other threads run; a page that is too intricate for one says so when it is looked at."""
    with suppress(TooIntricate):
        _ = page.tree


async def run(marked: Marked, page: Page) -> Parsed:
    """What one parser makes of one page, here and now."""
    items: list[Item] = []
    links: list[str] = []
    beside: list[str] = []
    priorities: dict[str, int] = {}
    try:
        async for made in marked.parse(page):
            if isinstance(made, Links):
                links += made.urls
            elif isinstance(made, Link):
                (links if made.deeper else beside).append(made.url)
                if made.priority:
                    priorities[made.url] = made.priority
            else:
                items.append(made)
    except Exception as error:
        # A parser is somebody else's code: whatever it raises is this page's fate and no reason to stop.
        log.warning("parser failed", extra={"parser": marked.name, "url": page.url, "error": repr(error)})
        return Parsed(error=f"{marked.name}: {error!r}")
    title = next((str(item.fields["title"]) for item in items if item.fields.get("title")), "")
    return Parsed(_storable(title), tuple(links), tuple(beside), tuple(items), priorities=priorities)


def _storable(text: str) -> str:
    """Text that every engine takes: no database stores half a character, and PostgreSQL no NUL."""
    return text.replace("\0", "").encode(errors="replace").decode()
