"""The use of the operator's own parsers in a run: pages that they took, failed on, and passed over."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from longline.model.archive.page import PageRow
from longline.model.frontier.fate import UrlFilters
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunRow
from longline.plugins.parser import PARSER_KEY, Parser
from longline.plugins.registry import Registry
from longline.ports.records.archive import PageStore
from longline.ports.records.frontier.frontier import TaskStore

BATCH_SIZE = 1000
MAX_PAGES = 100_000
"""Largest number of pages of a run that are compared with the patterns of parsers."""


class UnusedParser(msgspec.Struct, frozen=True):
    """A parser that fits no page of a run; `place` is its file and line."""

    name: str
    place: str
    match: tuple[str, ...]
    types: tuple[str, ...]


class ParserUse(msgspec.Struct, frozen=True):
    """Pages of a run by their use: `taken` by own parsers and `failed` there; `url` is that of a page.

    `unused` are own parsers that fit none of the `pages`, `used` the number of those that fit some page.
    """

    pages: int = 0
    url: str = ""
    taken: int = 0
    failed: int = 0
    unused: tuple[UnusedParser, ...] = ()
    used: int = 0

    @property
    def all_failed(self) -> bool:
        """Return whether own parsers took pages, and failed on all of them."""
        return 0 < self.taken <= self.failed


class ParserUses:
    """A reader of the use of parsers, by the URLs and types of a run's pages; no page is parsed for it."""

    def __init__(self, registry: Registry, pages: PageStore, tasks: TaskStore) -> None:
        self._registry, self._pages, self._tasks = registry, pages, tasks

    async def of_run(self, run: RunRow, config: Mapping[str, Any] | None = None) -> ParserUse:
        """Return the use of own parsers in a run, by the config of its plan or by another one.

        Without own parsers nothing is read.
        """
        config = CrawlPlan.read(run.plan).config if config is None else config
        own = self._candidates(config)
        if not own:
            return ParserUse()
        seen, example, taken, used = 0, "", 0, set[str]()
        async for page in self._pages_of(run.id):
            seen, example = seen + 1, page.url
            best = self._best(page, config)
            if best in own:
                taken += 1
                used.add(best)
        unused = tuple(UnusedParser(p.name, p.place, p.match, p.types) for p in own.values() if p.name not in used)
        failed = await self._failed(run.id, own) if run.failed else 0
        return ParserUse(seen, example, taken, failed, unused if seen else (), len(used))

    def _candidates(self, config: Mapping[str, Any]) -> dict[str, Parser]:
        """Return the own parsers by name, or the one that the run names."""
        named = config.get(PARSER_KEY)
        return {parser.name: parser for parser in self._registry.custom if not named or parser.name == named}

    def _best(self, page: PageRow, config: Mapping[str, Any]) -> str:
        if named := config.get(PARSER_KEY):
            return str(named)
        fits = [
            (fit, at)
            for at, parser in enumerate(self._registry.parsers)
            if (fit := parser.fit_of(page.url, page.content_type)) is not None
        ]
        return self._registry.parsers[max(fits)[1]].name if fits else ""

    async def _pages_of(self, run_id: int) -> AsyncIterator[PageRow]:
        after, read = 0, 0
        while read < MAX_PAGES and (rows := await self._pages.of_run(run_id, after=after, limit=BATCH_SIZE)):
            for row in rows:
                yield row
            after, read = rows[-1].task_id, read + len(rows)

    async def _failed(self, run_id: int, own: Mapping[str, Parser]) -> int:
        """Return the number of pages on which own parsers failed; the error of a page begins with its parser."""
        failed, after, filters = 0, 0, UrlFilters("failed", "parser_error")
        while rows := await self._tasks.url_fates(run_id, filters, after=after, limit=BATCH_SIZE):
            failed += sum((row.error or "").partition(": ")[0] in own for row in rows)
            after = rows[-1].id
        return failed
