"""Archived pages of a run, parsed without a request; nothing is stored."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from longline.engine.archive.page_reader import PageReader
from longline.engine.parse.page_parser import PageParser, Share
from longline.engine.parse.parser_results import Parsed
from longline.model.archive.page import PageRow
from longline.model.archive.warc import DamagedRecord
from longline.model.errors import NotFound
from longline.model.fetch.content_encoding import Undecodable
from longline.model.urls.url import parse
from longline.ports.records.archive import PageStore

BATCH_SIZE = 200
"""Pages that are listed together."""

Progress = Callable[[int, int], None]
"""Callback with the pages parsed so far and the pages in total."""


class ParsedPage(NamedTuple):
    """A page of the archive, and the result of its parser; of a lost or damaged page the result has only an error."""

    row: PageRow
    parsed: Parsed
    damaged: bool = False


class ParsedPages:
    """A parser of archived pages, `at_once` at a time, so that all processes have work and few pages are in memory."""

    def __init__(self, pages: PageStore, archive: PageReader, parser: PageParser, at_once: int) -> None:
        self._pages, self._archive, self._parser, self._at_once = pages, archive, parser, at_once

    async def of_run(
        self, run_id: int, config: Mapping[str, Any], progress: Progress
    ) -> AsyncIterator[Sequence[ParsedPage]]:
        """Yield the pages of a run in batches, in order."""
        total, count, after = await self._pages.count(run_id), itertools.count(1), 0
        gate = asyncio.Semaphore(self._at_once)

        async def parsed(row: PageRow) -> ParsedPage:
            async with gate:
                made = await self._parse(row, config)
            progress(next(count), total)
            return made

        while rows := await self._pages.of_run(run_id, after=after, limit=BATCH_SIZE):
            yield await asyncio.gather(*map(parsed, rows))
            after = rows[-1].task_id

    async def _parse(self, row: PageRow, config: Mapping[str, Any]) -> ParsedPage:
        try:
            page, _ = await self._archive.page(row.task_id)
        except (NotFound, DamagedRecord, Undecodable) as error:
            return ParsedPage(row, Parsed(error=str(error)), damaged=True)
        page.config = config
        return ParsedPage(row, await self._parser.parse(page, Share(parse(row.url).host, row.run_id)))
