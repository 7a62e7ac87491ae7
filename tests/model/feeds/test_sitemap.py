"""Times at which sitemaps are read, and the entries of a sitemap that are requested."""

import pytest

from longline.model.feeds.sitemap import (
    SITEMAP_INTERVAL_MS,
    Sitemap,
    SitemapEntry,
    SitemapRow,
    answered,
    asked,
    may_be_sitemap,
)


def test_entries_that_changed_lately_or_have_no_date_are_selected() -> None:
    places = (SitemapEntry("new", 11), SitemapEntry("old", 9), SitemapEntry("edge", 10), SitemapEntry("silent"))

    assert Sitemap("urlset", places).since(10) == ["new", "silent"]


def test_a_run_follows_only_the_previous_run_of_its_sitemap() -> None:
    row = SitemapRow(1, due_at=5)

    first = asked(row, 0, run_id=7, level=1, after=None)
    assert first == SitemapRow(1, 1, 7, 5)
    assert asked(first, 0, run_id=8, level=2, after=7) == SitemapRow(1, 2, 8, 5)
    assert asked(first, 0, run_id=8, level=2, after=6) is None
    assert answered(first, 100, run_id=7) == SitemapRow(1, due_at=100 + SITEMAP_INTERVAL_MS)
    assert answered(first, 100, run_id=8) is None


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://a.example/sitemap.xml", True),
        ("https://a.example/sitemap_index?page=2", True),
        ("https://a.example/news.XML", True),
        ("https://a.example/map.xml.gz", True),
        ("https://a.example/page", False),
        ("https://a.example/?to=sitemap.xml", False),
    ],
)
def test_a_sitemap_is_recognized_by_its_url(url: str, may: bool) -> None:
    assert may_be_sitemap(url) is may
