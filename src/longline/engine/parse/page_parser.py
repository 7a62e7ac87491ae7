"""Parsing of a page into items and links, by the parser that the registry has for the page."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from time import perf_counter, thread_time
from typing import Any, NamedTuple, Protocol

from longline.engine.metrics import MetricCounters
from longline.engine.parse.parser_results import MAX_LINKS, SITEMAP, Parsed, run
from longline.engine.parse.slow_pages import SlowHosts
from longline.html.parse_cost import ParseCost, TooComplex
from longline.model.metrics.metric import PARSE_SECONDS
from longline.model.runs.crawl_plan import SITEMAPS
from longline.plugins import Page
from longline.plugins.page import estimated_cost
from longline.plugins.parser import CONFIG_KEY, LAST_RESORT_KEY, PARSER_KEY
from longline.plugins.parser import Parser as Marked
from longline.plugins.registry import DEFAULT_PARSER, Registry, no_parser
from longline.plugins.session import SessionHook

log = logging.getLogger(__name__)


SLOW_SECONDS = {ParseCost.LITTLE: 0.03, ParseCost.SOME: 0.15, ParseCost.MUCH: 0.15}
"""Processor seconds, by cost, above which a page is too slow for this process; its host is remembered as slow."""


class Share(NamedTuple):
    """The account of a page's parsing time: its host and, among the pages of that host, its run."""

    host: str = ""
    run_id: int = 0


NO_SHARE = Share()
"""Account of pages that are parsed for a waiting person."""


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
