"""Searches for feeds on both engines, with hand-made responses."""

import pytest

from longline.engine.feeds.feed_finder import FeedFinder, usual_feeds
from longline.model.feeds.feed_poll import SEARCH_INTERVAL_MS, FeedRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.web import HandMadeWeb, Said, rss

HOME = "https://a.example/"
ENTRY = rss("https://a.example/1")


@pytest.fixture
def web(records: Records) -> HandMadeWeb:
    return HandMadeWeb(records)


async def search(web: HandMadeWeb, source_id: int) -> FeedRow:
    """Search until no candidate is left."""
    finder = FeedFinder(web.parts, web.records.sources)
    while await finder.once():
        await web.answer()
    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    return feed


def naming(*paths: str) -> Said:
    links = "".join(f'<link rel=alternate type="application/rss+xml" href="{path}">' for path in paths)
    return Said(body=f"<html><head>{links}</head></html>".encode())


async def test_the_link_of_the_page_names_its_feed(web: HandMadeWeb, clock: FakeClock) -> None:
    source_id = await web.source("a")
    web.says |= {HOME: naming("/news.rss"), "https://a.example/news.rss": ENTRY, "https://a.example/feed": ENTRY}

    feed = await search(web, source_id)

    assert feed == FeedRow(source_id, "https://a.example/news.rss", due_at=clock.now())
    assert web.asked == [HOME, "https://a.example/news.rss"]


async def test_a_declared_url_without_a_feed_is_skipped(web: HandMadeWeb) -> None:
    source_id = await web.source("a")
    named = {
        f"https://a.example/{n}": said for n, said in enumerate([Said(body=b"<html>"), rss(), Said(500), ENTRY, ENTRY])
    }
    web.says |= {HOME: naming(*named)} | named

    assert (await search(web, source_id)).url == "https://a.example/3"


@pytest.mark.parametrize("home", [Said(body=b"<html>nothing"), Said(500), naming("/gone")])
async def test_the_usual_urls_are_tried_in_order(web: HandMadeWeb, home: Said) -> None:
    source_id = await web.source("a")
    web.says |= {HOME: home, "https://a.example/feed": rss(), "https://a.example/atom.xml": ENTRY}
    web.says["https://a.example/rss.xml"] = ENTRY

    assert (await search(web, source_id)).url == "https://a.example/rss.xml"


async def test_a_search_without_a_result_is_not_repeated_for_a_week(web: HandMadeWeb, clock: FakeClock) -> None:
    source_id = await web.source("a")

    feed = await search(web, source_id)

    assert feed == FeedRow(source_id, due_at=clock.now() + SEARCH_INTERVAL_MS)
    assert len(web.asked) == 7
    clock.advance(SEARCH_INTERVAL_MS / 1000 - 1)
    await search(web, source_id)
    assert len(web.asked) == 7
    clock.advance(1)
    await search(web, source_id)
    assert len(web.asked) == 14


async def test_a_source_with_a_known_feed_is_not_searched(web: HandMadeWeb) -> None:
    source_id = await web.source("a")
    await web.records.feeds.change(source_id, lambda feed, _now: FeedRow(feed.source_id, "https://a.example/mine"))

    assert (await search(web, source_id)).url == "https://a.example/mine"
    assert web.asked == []


async def test_the_interval_between_searches_is_a_setting(web: HandMadeWeb, clock: FakeClock) -> None:
    source_id = await web.source("a")
    finder = FeedFinder(web.parts, web.records.sources, again_ms=5000)
    while await finder.once():
        await web.answer()
    feed = await web.records.feeds.get(source_id)
    assert feed is not None
    assert (feed.url, feed.due_at) == (None, clock.now() + 5000)


def test_the_usual_urls_of_feeds() -> None:
    assert usual_feeds("https://a.example/start/")[:2] == ["https://a.example/feed", "https://a.example/rss"]
