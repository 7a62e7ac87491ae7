"""Reparsing: pages of a run are parsed again from the archive, without a request."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from longline.model.search.item import UNINDEXED_KINDS, NewItem, Origin, new_items
from longline.ports.records.search import ItemStore
from longline.services.archive.parsed_pages import ParsedPage, ParsedPages, Progress
from longline.services.archive.parser_report import ParserUse


class Reparsed(msgspec.Struct, frozen=True):
    """The outcome of reparsing: `changed` counts new and changed items, and `error` is the first error.

    `damaged` counts the failed pages that are lost or damaged in the archive; the parser failed on the others.
    `without_item` counts pages of which the parser made no item, by its reason. `parser_use` is that of own parsers.
    `replaced` counts the pages that were fetched again meanwhile: they keep the items of their new bodies, and these
    here count as neither items nor reasons.
    """

    pages: int = 0
    items: int = 0
    changed: int = 0
    failed: int = 0
    error: str | None = None
    damaged: int = 0
    without_item: dict[str, int] = {}
    parser_use: ParserUse = ParserUse()
    replaced: int = 0


class Reparse:
    """Reparsing of a run's pages. Links are not followed: crawls follow links."""

    def __init__(self, pages: ParsedPages, items: ItemStore) -> None:
        self._pages, self._items = pages, items

    async def run(self, run_id: int, config: Mapping[str, Any], progress: Progress) -> Reparsed:
        """Parse every page of a run and store the items; an unchanged item keeps its id."""
        done, without_item = Reparsed(), Counter[str]()
        async for pages in self._pages.of_run(run_id, config, progress):
            parsed = [page for page in pages if not page.parsed.error]
            errors = [f"{page.row.url}: {page.parsed.error}" for page in pages if page.parsed.error]
            items = [item for page in parsed for item in _items(page)]
            put = await self._items.put(items, [page.row for page in parsed])
            kept = [page for page in parsed if page.row.task_id not in put.replaced]
            without_item.update(page.parsed.without_item for page in kept if page.parsed.without_item)
            done = Reparsed(
                done.pages + len(pages),
                done.items + sum(item.task_id not in put.replaced for item in items),
                done.changed + put.changed,
                done.failed + len(errors),
                done.error or next(iter(errors), None),
                done.damaged + sum(page.damaged for page in pages),
                dict(without_item),
                replaced=done.replaced + len(put.replaced),
            )
        return done


def _items(page: ParsedPage) -> list[NewItem]:
    """Return the items of a page, without items that are only counted when a page is crawled."""
    origin = Origin(page.row.run_id, page.row.task_id, page.row.url)
    kept = ((item.kind, item.fields, item.key) for item in page.parsed.items if item.kind not in UNINDEXED_KINDS)
    return new_items(kept, origin)
