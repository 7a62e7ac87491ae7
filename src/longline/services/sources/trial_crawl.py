"""Trial crawls: the document that one page of an unregistered source would become."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from longline.plugins import Page
from longline.plugins.html.parse_cost import TooComplex
from longline.services.page_preview import PagePreviews, is_html


class TrialExtract(msgspec.Struct, frozen=True):
    """The document that a page would become: its fields, the extraction method, and the reason not to index it."""

    fields: Mapping[str, Any]
    method: str
    skipped: str | None


class Trial(msgspec.Struct, frozen=True):
    """The outcome of a trial; `extract` is None for a page that is not HTML or is too complex."""

    url: str
    status: int
    content_type: str
    extract: TrialExtract | None = None
    links: int = 0


class Trials:
    """Trials that fetch a page and extract from it as a crawl would, without storing it."""

    def __init__(self, glances: PagePreviews, extract: Callable[[Page], TrialExtract]) -> None:
        self._glances, self._extract = glances, extract

    async def run(self, url: str, config: Mapping[str, Any], seconds: float) -> Trial:
        """Fetch and extract one page with a source's parser config; raises as `PagePreviews.fetch` does."""
        page = await self._glances.fetch(url, seconds, config)
        seen = Trial(page.url, page.status, page.content_type)
        if not is_html(page):
            return seen
        try:
            return msgspec.structs.replace(seen, extract=self._extract(page), links=len(page.links()))
        except TooComplex:
            return seen
