"""Feeds declared in pages."""

from longline.plugins import Page
from longline.plugins.feed_links import feed_links

HOME = "https://a.example/start/"


def test_a_page_names_its_feeds() -> None:
    page = Page(
        HOME,
        b"""<base href="/blog/"><link rel="alternate" type="application/rss+xml" href="rss">
        <link rel="ALTERNATE home" type="application/atom+xml; charset=utf-8" href="https://b.example/atom">
        <link rel=alternate type=application/feed+json href=feed.json><link rel=alternate type=application/rss+xml>
        <link rel=alternate hreflang=de href=/de type=text/html><link rel=stylesheet type=text/rss+xml href=x>
        <link rel=alternate type=application/rss+xml href=rss>""",
    )

    assert feed_links(page) == [
        "https://a.example/blog/rss",
        "https://b.example/atom",
        "https://a.example/blog/feed.json",
    ]
