"""Parsing of a page into items and links, by the parser that the registry has for the page."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, takewhile
from time import thread_time
from typing import Any, NamedTuple, Protocol

import msgspec

from longline.engine.parse.slow_hosts import SlowHosts
from longline.model.errors import BadInput
from longline.model.frontier.task import ClaimedTask
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.storable_text import storable
from longline.plugins import Item, Link, Links, Page
from longline.plugins.html.parse_cost import ParseCost, TooComplex, parse_cost_of
from longline.plugins.parser import Parser as Marked
from longline.plugins.registry import Registry

log = logging.getLogger(__name__)


SLOW_SECONDS = {ParseCost.LITTLE: 0.03, ParseCost.SOME: 0.15, ParseCost.MUCH: 0.15}
"""Processor seconds, by cost, above which a page is too slow for this process; its host is remembered as slow."""

MAX_LINKS = 10_000
"""Largest number of links followed from one page, unless the operator sets another."""

MAX_LISTED_LINKS = 50_000
"""Largest number of links that lead no deeper, from one document: a sitemap may list 50,000."""

MAX_LINK_CHARACTERS = 8 * 1024 * 1024
"""Characters of all links that are taken from one page: with a long base every short link is a long URL."""


class Share(NamedTuple):
    """The account of a page's parsing time: its host and, among the pages of that host, its run."""

    host: str = ""
    run_id: int = 0


NO_SHARE = Share()
"""Account of pages that are parsed for a waiting person."""


class Parsed(msgspec.Struct, frozen=True):
    """The result of parsing a page; `beside` are links that lead no deeper, `cut` is the number of dropped links.

    `priorities` has the priorities that differ from the default. `error` is set when the parser raised: the
    page stays archived, and can be parsed again.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    error: str | None = None
    priorities: dict[str, int] = {}
    cut: int = 0

    @property
    def weight(self) -> int:
        """Return the number of links to be checked when the page is reported."""
        return len(self.links) + len(self.beside)

    def items_of(self, task: ClaimedTask, url: str, *, in_words: bool) -> list[NewItem]:
        """Return the items as they are stored, with the page they were made of."""
        made = ((item.kind, item.fields) for item in self.items)
        return new_items(made, Origin(task.run_id, task.id, url), in_words=in_words)


class ParserPool(Protocol):
    """A pool that parses pages without blocking this process."""

    @property
    def waiting(self) -> int:
        """Return the number of pages that wait for their turn."""

    async def parse(self, parser: str, page: Page, share: Share = NO_SHARE, *, slow: bool = False) -> Parsed:
        """Return the result of the named parser; a `slow` page may take long."""


class PageParser:
    """A runner of parsers: light ones run in this process, all others in the pool `elsewhere`, if there is one.

    A page of a few milliseconds is parsed on the event loop. The tree of a larger page is built in a thread, and a
    still slower page is parsed in a thread as a whole, one at a time. After a page that took too long, further pages of
    that cost and host are parsed in the pool, as are pages that need a deadline.
    """

    def __init__(self, registry: Registry, elsewhere: ParserPool | None = None, max_links: int = MAX_LINKS) -> None:
        self._registry, self._elsewhere, self._max_links = registry, elsewhere, max_links
        self._slow_hosts = {cost: SlowHosts() for cost in ParseCost}
        self._thread = asyncio.Semaphore(1)

    @property
    def waiting(self) -> int:
        """Return the number of pages that wait in the pool."""
        return self._elsewhere.waiting if self._elsewhere is not None else 0

    def check(self, config: Mapping[str, Any]) -> None:
        """Raise `BadInput` for a config that names an unknown parser."""
        name = config.get("parser")
        if name and self._registry.named(name) is None:
            known = ", ".join(sorted(parser.name for parser in self._registry.parsers))
            raise BadInput(f"there is no parser {name!r}; there are {known}")

    async def parse(self, page: Page, share: Share = NO_SHARE) -> Parsed:
        """Return items and links of a page; a page that no parser accepts has neither."""
        named = page.config.get("parser")
        marked = self._registry.named(named) if named else self._registry.parser_for(page)
        if marked is None:
            return Parsed(error=f"there is no parser {named}" if named else None)
        cost = parse_cost_of(page.body, page.url)
        if self._elsewhere is not None and (not marked.light or self._is_for_elsewhere(cost, share)):
            return await self._elsewhere.parse(marked.name, page, share, slow=cost in (ParseCost.MUCH, ParseCost.WILD))
        parsed, seconds = await self._parse_here(marked, page, cost)
        if seconds > SLOW_SECONDS.get(cost, 0.0):
            self._slow_hosts[cost].add(share.host)
        return parsed

    def _is_for_elsewhere(self, cost: ParseCost, share: Share) -> bool:
        return cost is ParseCost.WILD or share.host in self._slow_hosts[cost]

    async def _parse_here(self, marked: Marked, page: Page, cost: ParseCost) -> tuple[Parsed, float]:
        """Parse a page in this process; return the result and its processor time."""
        if cost in (ParseCost.MUCH, ParseCost.WILD):
            async with self._thread:
                return await asyncio.to_thread(_run_apart, marked, page, self._max_links)
        tree_seconds = await asyncio.to_thread(_build_tree, page) if cost is ParseCost.SOME else 0.0
        begun = thread_time()
        parsed = await run(marked, page, self._max_links)
        return parsed, tree_seconds + thread_time() - begun


def _build_tree(page: Page) -> float:
    """Build the tree of a page, while other threads can run; return the processor time."""
    begun = thread_time()
    with suppress(TooComplex):  # the parser raises the same error, which becomes the page's
        _ = page.tree
    return thread_time() - begun


def _run_apart(marked: Marked, page: Page, max_links: int) -> tuple[Parsed, float]:
    """Parse a page in the calling thread; return the result and its processor time."""
    begun = thread_time()
    parsed = asyncio.run(run(marked, page, max_links))
    return parsed, thread_time() - begun


async def run(marked: Marked, page: Page, max_links: int = MAX_LINKS) -> Parsed:
    """Run one parser on one page, and return the result."""
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
        # A parser is foreign code: any exception becomes the error of this page and never stops the worker.
        log.warning("parser failed", extra={"parser": marked.name, "url": page.url, "error": repr(error)})
        return Parsed(error=f"{marked.name}: {error!r}")
    title = next((str(item.fields["title"]) for item in items if item.fields.get("title")), "")
    kept, listed = _bounded(links, max_links), _bounded(beside, MAX_LISTED_LINKS)
    cut = len(links) + len(beside) - len(kept) - len(listed)
    return Parsed(storable(title), kept, listed, tuple(items), priorities=priorities, cut=cut)


def _bounded(urls: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first links, within the limits on their number and on their characters."""
    kept = tuple(urls[:most])
    if sum(map(len, kept)) <= MAX_LINK_CHARACTERS:
        return kept
    sums = accumulate(map(len, kept))
    return kept[: sum(1 for _ in takewhile(lambda so_far: so_far <= MAX_LINK_CHARACTERS, sums))]
