"""A trial of a source that is not registered yet: what would be made of one of its pages."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from longline.plugins import Page
from longline.plugins.html.parse_cost import TooComplex
from longline.services.page_preview import PagePreviews, is_html


class TrialExtract(msgspec.Struct, frozen=True):
    """The document that a page would become: its fields, how they were found, and why it would not be indexed."""

    fields: Mapping[str, Any]
    method: str
    skipped: str | None


class Trial(msgspec.Struct, frozen=True):
    """What came of a page; `extract` is None for what cannot be read."""

    url: str
    status: int
    content_type: str
    extract: TrialExtract | None = None
    links: int = 0


class Trials:
    """Fetches a page and extracts from it as a crawl would, without keeping anything."""

    def __init__(self, glances: PagePreviews, extract: Callable[[Page], TrialExtract]) -> None:
        self._glances, self._extract = glances, extract

    async def run(self, url: str, config: Mapping[str, Any], seconds: float) -> Trial:
        """Try one page with what a source's config says to parsers; raises as a glance does."""
        page = await self._glances.fetch(url, seconds, config)
        seen = Trial(page.url, page.status, page.content_type)
        if not is_html(page):
            return seen
        try:
            return msgspec.structs.replace(seen, extract=self._extract(page), links=len(page.links()))
        except TooComplex:
            return seen
