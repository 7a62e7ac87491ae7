"""Reading of feeds and sitemaps by their parsers: in a process with a deadline, where there is a pool."""

from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.parser_results import Parsed
from longline.model.feeds.feed import NotAFeed
from longline.model.feeds.sitemap import NotASitemap, Sitemap, SitemapEntry
from longline.plugins import Page

FEED = "feed"
PLACES = "sitemap_places"
"""Names of the parsers."""


class Reader:
    """A reader of polled documents; a document that takes too long fails alone."""

    def __init__(self, parser: PageParser) -> None:
        self._parser = parser

    async def entries(self, page: Page) -> list[str]:
        """Return the URLs of a feed's entries; raise `NotAFeed`."""
        parsed = await self._parse(FEED, page)
        if parsed.error is not None:
            raise NotAFeed(parsed.error)
        return list(parsed.links)

    async def sitemap(self, page: Page) -> Sitemap:
        """Return a sitemap with the URL and the date of each place; raise `NotASitemap`."""
        parsed = await self._parse(PLACES, page)
        if parsed.error is not None:
            raise NotASitemap(parsed.error)
        sitemap_fields = parsed.items[0].fields
        places = tuple(map(SitemapEntry, sitemap_fields["urls"], sitemap_fields["changed"]))
        return Sitemap(sitemap_fields["kind"], places, sitemap_fields["index"], sitemap_fields["flaw"])

    async def _parse(self, name: str, page: Page) -> Parsed:
        return await self._parser.parse(
            Page(page.url, page.body, content_type=page.content_type, config={"parser": name})
        )
