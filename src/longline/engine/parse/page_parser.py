"""Parsing of a page into items and links, by the parser that the registry has for the page."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, takewhile
from time import perf_counter, thread_time
from typing import Any, NamedTuple, Protocol

import msgspec

from longline.engine.metrics import MetricCounters
from longline.engine.parse.slow_hosts import SlowHosts
from longline.html.parse_cost import ParseCost, TooComplex
from longline.model.frontier.task import ClaimedTask
from longline.model.metrics.metric import PARSE_SECONDS
from longline.model.runs.plan import SITEMAPS
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.storable_text import storable
from longline.plugins import Child, Item, Link, Links, Page, Refused
from longline.plugins.page import estimated_cost
from longline.plugins.parser import CONFIG_KEY, LAST_RESORT_KEY, PARSER_KEY, Made
from longline.plugins.parser import Parser as Marked
from longline.plugins.parser_errors import describe
from longline.plugins.registry import DEFAULT_PARSER, Registry, no_parser
from longline.plugins.session import SessionHook

log = logging.getLogger(__name__)


SLOW_SECONDS = {ParseCost.LITTLE: 0.03, ParseCost.SOME: 0.15, ParseCost.MUCH: 0.15}
"""Processor seconds, by cost, above which a page is too slow for this process; its host is remembered as slow."""

SITEMAP = "sitemap"
"""Name of the parser of sitemaps, and kind of its item."""

MAX_LINKS = 10_000
"""Largest number of links followed from one page, unless the operator sets another."""

MAX_CHILDREN = 500
"""Largest number of children of one page."""

MAX_LISTED_LINKS = 50_000
"""Largest number of links that lead no deeper, from one document: a sitemap may list 50,000."""

MAX_LINK_CHARACTERS = 8 * 1024 * 1024
"""Characters of all links that are taken from one page: with a long base every short link is a long URL."""


MAX_REASONS = 20
"""Largest number of different reasons for refused links of one page; a run counts each reason in a row of its own."""


class Share(NamedTuple):
    """The account of a page's parsing time: its host and, among the pages of that host, its run."""

    host: str = ""
    run_id: int = 0


NO_SHARE = Share()
"""Account of pages that are parsed for a waiting person."""


class Parsed(msgspec.Struct, frozen=True):
    """The result of parsing a page; `beside` are links that lead no deeper, `cut` is the number of dropped links.

    `priorities` has the priorities that differ from the default. `refused` are links that the parser does not follow,
    by reason, and `without_item` the reason for which it makes no item of the page. `error` is set when the parser
    raised: the page stays archived, and can be parsed again.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    error: str | None = None
    priorities: dict[str, int] = {}
    cut: int = 0
    refused: dict[str, tuple[str, ...]] = {}
    without_item: str | None = None
    children: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[str, ...]:
        """Return the links of the page, with those that the parser does not follow."""
        return self.links + tuple(url for urls in self.refused.values() for url in urls)

    @property
    def weight(self) -> int:
        """Return the number of links to be checked when the page is reported."""
        refused = sum(map(len, self.refused.values())) if self.refused else 0
        return len(self.links) + len(self.beside) + refused

    @property
    def listing(self) -> str:
        """Return `sitemap` for a sitemap of pages, `index` for one of sitemaps, and an empty text for other pages."""
        found = next((item for item in self.items if item.kind == SITEMAP), None)
        return "" if found is None else "index" if found.fields.get("index") else SITEMAP

    def items_of(self, task: ClaimedTask, url: str, *, in_words: bool) -> list[NewItem]:
        """Return the items as they are stored, with the page they were made of."""
        made = ((item.kind, item.fields, item.key) for item in self.items)
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

    def __init__(
        self,
        registry: Registry,
        elsewhere: ParserPool | None = None,
        max_links: int = MAX_LINKS,
        metrics: MetricCounters | None = None,
    ) -> None:
        self._registry, self._elsewhere, self._max_links = registry, elsewhere, max_links
        self._metrics = metrics or MetricCounters()
        self._slow_hosts = {cost: SlowHosts() for cost in ParseCost}
        self._thread = asyncio.Semaphore(1)

    @property
    def waiting(self) -> int:
        """Return the number of pages that wait in the pool."""
        return self._elsewhere.waiting if self._elsewhere is not None else 0

    @property
    def sessions(self) -> tuple[SessionHook, ...]:
        """Return the functions that log in, which stand in the same files as parsers."""
        self._registry.refresh()
        return self._registry.sessions

    def check(self, config: Mapping[str, Any]) -> None:
        """Raise `BadInput` for a config that names an unknown parser, or has an invalid config for its parser."""
        self._registry.check(config.get(PARSER_KEY) or "", config.get(CONFIG_KEY) or {})

    async def parse(self, page: Page, share: Share = NO_SHARE) -> Parsed:
        """Return items and links of a page; a page that no parser accepts has neither."""
        begun = perf_counter()
        try:
            return await self._parse(page, share)
        finally:
            self._metrics.observe(PARSE_SECONDS, perf_counter() - begun)

    async def _parse(self, page: Page, share: Share) -> Parsed:
        self._registry.refresh()
        named = page.config.get(PARSER_KEY)
        marked = self._sitemap_parser(page)
        if marked is None:
            marked = self._registry.named(named) if named else self._choice(page)
        if marked is None:
            return Parsed(error=no_parser(named, self._registry.names) if named else None)
        cost = estimated_cost(page)
        if self._elsewhere is not None and (not marked.light or self._is_for_elsewhere(cost, share)):
            return await self._elsewhere.parse(marked.name, page, share, slow=cost in (ParseCost.MUCH, ParseCost.WILD))
        parsed, seconds = await self._parse_here(marked, page, cost)
        if seconds > SLOW_SECONDS.get(cost, 0.0):
            self._slow_hosts[cost].add(share.host)
        return parsed

    def _choice(self, page: Page) -> Marked | None:
        """Return the parser with the closest match."""
        return self._registry.parser_for(page, page.config.get(LAST_RESORT_KEY) or DEFAULT_PARSER)

    def _sitemap_parser(self, page: Page) -> Marked | None:
        """Return the parser of sitemaps for a sitemap of a run that needs them, whichever parser its pages have."""
        if not page.config.get(SITEMAPS):
            return None
        marked = self._registry.named(SITEMAP)
        return marked if marked is not None and marked.fit(page) is not None else None

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
    made = _Made(max_links)
    try:
        # Not by `Parser.parse`: a generator in between would cost as much as the page's title.
        results = marked.results(page)
        if isinstance(results, AsyncIterator):
            async for one in results:
                made.add(marked.checked(one, results))
        else:
            for one in results:
                made.add(marked.checked(one, results))
    except Exception as error:
        # A parser is foreign code: any exception becomes the error of this page and never stops the worker.
        said = describe(error, marked.file)
        log.warning("parser failed", extra={"parser": marked.name, "url": page.url, "error": said})
        return Parsed(error=f"{marked.name}: {said}")
    return made.parsed()


class _Made:
    """The results of a parser for one page, collected in order."""

    def __init__(self, max_links: int) -> None:
        self._max_links = max_links
        self._items: list[Item] = []
        self._links: list[str] = []
        self._beside: list[str] = []
        self._priorities: dict[str, int] = {}
        self._refused: dict[str, list[str]] = {}
        self._without_item: str | None = None
        self._children: list[str] = []

    def add(self, one: Made) -> None:
        """Add a result."""
        match one:
            case Links():
                self._links += one.urls
            case Link():
                (self._links if one.deeper else self._beside).append(one.url)
                if one.priority:
                    self._priorities[one.url] = one.priority
            case Refused():
                self._refuse(one)
            case Child():
                self._children.append(one.url)
            case _:
                self._items.append(one)

    def _refuse(self, one: Refused) -> None:
        if not one.urls:
            self._without_item = one.reason
        elif one.reason in self._refused or len(self._refused) < MAX_REASONS:
            self._refused.setdefault(one.reason, []).extend(one.urls)

    def parsed(self) -> Parsed:
        """Return the result of the page, within the limits on links."""
        title = next((str(item.fields["title"]) for item in self._items if item.fields.get("title")), "")
        kept, listed = _bounded(self._links, self._max_links), _bounded(self._beside, MAX_LISTED_LINKS)
        refused = {reason: _bounded(urls, self._max_links) for reason, urls in self._refused.items()}
        return Parsed(
            storable(title),
            kept,
            listed,
            tuple(self._items),
            priorities=self._priorities,
            cut=len(self._links) + len(self._beside) - len(kept) - len(listed),
            refused=refused,
            without_item=self._without_item,
            children=_bounded(self._children, MAX_CHILDREN),
        )


def _bounded(urls: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first links, within the limits on their number and on their characters."""
    kept = tuple(urls[:most])
    if sum(map(len, kept)) <= MAX_LINK_CHARACTERS:
        return kept
    sums = accumulate(map(len, kept))
    return kept[: sum(1 for _ in takewhile(lambda so_far: so_far <= MAX_LINK_CHARACTERS, sums))]
