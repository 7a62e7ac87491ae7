"""Reparsing: pages of a run are parsed again from the archive, without a request."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from longline.engine.archive.page_reader import PageReader
from longline.engine.parse.parser import PageParser
from longline.model.archive.page import PageRow
from longline.model.archive.warc import DamagedRecord
from longline.model.errors import NotFound
from longline.model.fetch.content_encoding import Undecodable
from longline.model.search.item import NewItem, Origin, new_items
from longline.ports.records.archive import PageStore
from longline.ports.records.search import ItemStore

Progress = Callable[[int, int], None]
"""Callback with the pages parsed so far and the pages in total."""


class Reparsed(msgspec.Struct, frozen=True):
    """The outcome of reparsing: `changed` counts new and changed items, and `error` is the first error.

    `damaged` counts the failed pages that are lost or damaged in the archive; the parser failed on the others.
    """

    pages: int = 0
    items: int = 0
    changed: int = 0
    failed: int = 0
    error: str | None = None
    damaged: int = 0


class _DamageText(str):
    """The error of a page that is lost or damaged in the archive."""

    __slots__ = ()


class Reparse:
    """Reparsing of a run's pages, `at_once` at a time. Links are not followed: crawls follow links."""

    def __init__(
        self, pages: PageStore, items: ItemStore, archive: PageReader, parser: PageParser, at_once: int
    ) -> None:
        self._pages, self._items, self._archive = pages, items, archive
        self._parser, self._at_once = parser, at_once

    async def run(self, run_id: int, config: Mapping[str, Any], progress: Progress) -> Reparsed:
        """Parse every page of a run and store the items; an unchanged item keeps its id."""
        done, total = Reparsed(), await self._pages.count(run_id)
        after = 0
        while rows := await self._pages.of_run(run_id, after=after, limit=self._at_once):
            made = await asyncio.gather(*(self._parse(row, config) for row in rows))
            items = [item for found in made if not isinstance(found, str) for item in found]
            errors = [found for found in made if isinstance(found, str)]
            done = Reparsed(
                done.pages + len(rows),
                done.items + len(items),
                done.changed + await self._items.put(items),
                done.failed + len(errors),
                done.error or next(iter(errors), None),
                done.damaged + sum(isinstance(error, _DamageText) for error in errors),
            )
            after = rows[-1].task_id
            progress(done.pages, total)
        return done

    async def _parse(self, row: PageRow, config: Mapping[str, Any]) -> list[NewItem] | str:
        """Return the items of a page, or the error."""
        try:
            page, facts = await self._archive.page(row.task_id)
        except (NotFound, DamagedRecord, Undecodable) as error:
            return _DamageText(f"{row.url}: {error}")
        page.config = config
        parsed = await self._parser.parse(page)
        if parsed.error:
            return f"{row.url}: {parsed.error}"
        origin = Origin(row.run_id, row.task_id, facts.url)
        return new_items(((item.kind, item.fields) for item in parsed.items), origin)
