"""Reading feeds and sitemaps in processes with a deadline."""

from collections.abc import Iterator

import pytest

from longline.engine.feeds.document_reader import Reader
from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.process_pool import ProcessPool
from longline.model.feeds.feed import NotAFeed
from longline.model.feeds.sitemap import NotASitemap, SitemapEntry
from longline.plugins import Page
from longline.plugins.registry import ParserSources
from tests.engine.web import reader

SHELF = ParserSources(("longline.parsers.feeds.feed", "longline.parsers.feeds.sitemap"))
HERE = "https://a.example/feed"
GOOD = b"<rss version='2.0'><channel><item><link>/1</link></item><item><guid>2</guid></item></channel></rss>"
LARGE = b"<rss version='2.0'><channel>" + b"<item><title>x</title></item>" * 50_000 + b"</channel></rss>"
PLACES = b"<urlset><url><loc>/1</loc><lastmod>1970-01-02</lastmod></url><url><loc>/2</loc></url></urlset>"


@pytest.fixture
def aside() -> Iterator[ProcessPool]:
    made = ProcessPool(SHELF, 1, 2.0)
    yield made
    made.close()


@pytest.mark.slow(reason="starts processes")
async def test_a_document_that_takes_too_long_fails_alone(aside: ProcessPool) -> None:
    apart = Reader(PageParser(SHELF.open(), aside))
    assert await apart.entries(Page(HERE, GOOD)) == ["https://a.example/1"]

    with pytest.raises(NotAFeed, match="took longer than 2 s"):
        await apart.entries(Page(HERE, LARGE))
    with pytest.raises(NotASitemap, match="took longer than 2 s"):
        await apart.sitemap(Page(HERE, LARGE))

    assert await apart.entries(Page(HERE, GOOD)) == ["https://a.example/1"]


@pytest.mark.parametrize("processes", [True, False])
async def test_a_sitemap_keeps_its_dates_and_an_invalid_document_is_an_error(
    aside: ProcessPool, processes: bool
) -> None:
    read = Reader(PageParser(SHELF.open(), aside)) if processes else reader()

    found = await read.sitemap(Page(HERE, PLACES))

    assert found.places == (SitemapEntry("https://a.example/1", 86_400_000), SitemapEntry("https://a.example/2"))
    assert (found.kind, found.index, found.flaw) == ("urlset", False, None)
    assert (await read.sitemap(Page(HERE, b"<sitemapindex><sitemap><loc>/s</loc></sitemap></sitemapindex>"))).index
    with pytest.raises(NotASitemap, match="no sitemap"):
        await read.sitemap(Page(HERE, b"<html>x</html>"))
    with pytest.raises(NotAFeed, match="no feed"):
        await read.entries(Page(HERE, b"<html>x</html>"))
