"""Trial crawls: the document that one page of an unregistered source would become."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.engine.parse.page_parser import PageParser
from longline.model.search.item import UNINDEXED_KINDS
from longline.plugins import Page
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY
from longline.plugins.registry import Registry
from longline.services.page_preview import PagePreviews, is_html

ARTICLE, TRIAL_ARTICLE = "article", "trial_article"
"""Names of the parser of articles, and of the parser that yields their documents even if a crawl would refuse them."""


class TrialExtract(msgspec.Struct, frozen=True):
    """The document that a page would become: its fields, the extraction method, and the reason not to index it."""

    fields: Mapping[str, Any]
    method: str
    skipped: str | None


class TrialItem(msgspec.Struct, frozen=True):
    """An item that a parser made of a page."""

    kind: str
    fields: Mapping[str, Any]


class Trial(msgspec.Struct, frozen=True):
    """The outcome of a trial; `extract` is None for a page that is not HTML or is too complex.

    With a `parser`, the one that the source names or the operator's own for the page, the outcome is its `items`, or
    its `error`.
    """

    url: str
    status: int
    content_type: str
    extract: TrialExtract | None = None
    links: int = 0
    parser: str | None = None
    items: tuple[TrialItem, ...] = ()
    error: str | None = None


class Trials:
    """Trials that fetch a page and extract from it as a crawl would, without storing it."""

    def __init__(self, glances: PagePreviews, parsers: Registry, parser: PageParser) -> None:
        self._glances, self._parsers, self._parser = glances, parsers, parser

    async def run(self, url: str, config: Mapping[str, Any], seconds: float) -> Trial:
        """Fetch and extract one page with a source's parser config; raises as `PagePreviews.fetch` does.

        Raises `BadInput` for a parser that is not loaded, and for a config that it does not take.
        """
        self._parsers.check(config.get(PARSER_KEY) or "", config.get(CONFIG_KEY) or {})
        page = await self._glances.fetch(url, seconds, config)
        seen = Trial(page.url, page.status, page.content_type)
        if (name := self._own_parser(page)) is not None:
            return await self._parse(page, name, seen)
        if not is_html(page):
            return seen
        page.config = {**config, PARSER_KEY: TRIAL_ARTICLE}
        parsed = await self._parser.parse(page)
        if not parsed.items:
            return seen
        extract = TrialExtract(**parsed.items[0].fields)
        return msgspec.structs.replace(seen, extract=extract, links=len(parsed.links) + parsed.cut)

    def _own_parser(self, page: Page) -> str | None:
        """Return the parser that the source names, else an own parser that a job would choose for the page.

        The parser of articles is left out: its document has more to show than an item.
        """
        if named := page.config.get(PARSER_KEY):
            return str(named) if named != ARTICLE else None
        chosen = self._parsers.parser_for(page)
        return chosen.name if chosen is not None and chosen in self._parsers.custom else None

    async def _parse(self, page: Page, name: str, seen: Trial) -> Trial:
        parsed = await self._parser.parse(page)
        items = tuple(TrialItem(item.kind, item.fields) for item in parsed.items if item.kind not in UNINDEXED_KINDS)
        return msgspec.structs.replace(
            seen, parser=name, items=items, error=parsed.error, links=len(parsed.links) + len(parsed.beside)
        )
