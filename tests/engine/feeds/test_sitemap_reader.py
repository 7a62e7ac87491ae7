"""Reading of sitemaps on both engines, with hand-made responses."""

from datetime import UTC, datetime

import msgspec
import pytest

from longline.engine.feeds.sitemap_reader import SitemapReader
from longline.model.feeds.feed_poll import PLACE_PRIORITY
from longline.model.feeds.sitemap import SITEMAP_INTERVAL_MS
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.web import HandMadeWeb, Said, mapped

HOME = "https://a.example"


class Maps:
    """A sitemap reader, and the responses of its web."""

    def __init__(self, records: Records, clock: FakeClock) -> None:
        self.web, self.clock = HandMadeWeb(records), clock
        self.mapper = SitemapReader(mapped(self.web, clock))

    def says(self, path: str, *places: str, index: bool = False, days: dict[str, float] | None = None) -> None:
        root, tag = ("sitemapindex", "sitemap") if index else ("urlset", "url")
        inside = "".join(f"<{tag}><loc>{HOME}{p}</loc>{self._dated(p, days or {})}</{tag}>" for p in places)
        self.web.says[f"{HOME}{path}"] = Said(body=f"<{root}>{inside}</{root}>".encode())

    def _dated(self, place: str, days: dict[str, float]) -> str:
        if place not in days:
            return ""
        moment = datetime.fromtimestamp(self.clock.now() / 1000 - days[place] * 86_400, UTC)
        return f"<lastmod>{moment.isoformat(timespec='seconds')}</lastmod>"

    async def read(self) -> list[str]:
        """Read all due sitemaps and their indexes; return the requested paths without entries, sorted."""
        before = len(self.web.asked)
        while await self.mapper.once():
            await self.web.answer()
        found = set(await self.web.urls("frontier.sitemap"))
        return sorted(url.removeprefix(HOME) for url in self.web.asked[before:] if url not in found)

    async def found(self) -> list[str]:
        urls = await self.web.urls("frontier.sitemap")
        assert set(urls.values()) <= {PLACE_PRIORITY}
        return sorted(url.removeprefix(HOME) for url in urls)


@pytest.fixture
def maps(records: Records, clock: FakeClock) -> Maps:
    return Maps(records, clock)


async def test_the_usual_sitemaps_are_read_every_six_hours(maps: Maps, clock: FakeClock) -> None:
    await maps.web.source("a")
    maps.says("/sitemap.xml", "/1")
    maps.says("/news-sitemap.xml", "/2")
    assert await maps.read() == ["/news-sitemap.xml", "/sitemap.xml"]
    assert await maps.found() == ["/1", "/2"]
    clock.advance(SITEMAP_INTERVAL_MS / 1000 - 1)
    assert await maps.read() == []
    maps.says("/sitemap.xml", "/1", "/3")
    clock.advance(1)
    assert len(await maps.read()) == 2
    assert await maps.found() == ["/1", "/2", "/3"]


async def test_entries_with_a_recent_or_no_date_are_added(maps: Maps) -> None:
    await maps.web.source("a")
    maps.says("/sitemap.xml", "/new", "/old", "/silent", days={"/new": 1.9, "/old": 2.1})
    await maps.read()
    assert await maps.found() == ["/new", "/silent"]


async def test_indexes_are_followed_to_a_bounded_depth(maps: Maps) -> None:
    await maps.web.source("a")
    maps.says("/sitemap.xml", "/i1", "/stale", index=True, days={"/stale": 9})
    maps.says("/i1", "/m1", "/i2", index=True)
    maps.says("/m1", "/page")
    maps.says("/i2", "/too-deep", index=True)
    maps.says("/too-deep", "/never")
    assert await maps.read() == ["/i1", "/i2", "/m1", "/news-sitemap.xml", "/sitemap.xml"]
    assert await maps.found() == ["/page"]


async def test_no_index_of_a_loop_is_read_twice(maps: Maps) -> None:
    await maps.web.source("a")
    maps.says("/sitemap.xml", "/sitemap.xml", "/%69nner", index=True)
    maps.says("/inner", "/sitemap.xml", "/%73itemap.xml", "/inner", "/pages", index=True)
    maps.says("/pages", "/page")
    maps.web.says[f"{HOME}/%69nner"] = maps.web.says[f"{HOME}/inner"]
    assert await maps.read() == ["/%69nner", "/news-sitemap.xml", "/pages", "/sitemap.xml"]
    assert await maps.found() == ["/page"]


async def test_a_sitemap_may_list_urls_of_its_own_site_alone(maps: Maps) -> None:
    await maps.web.source("a")
    urls = ("https://a.example/1", "https://www.a.example/2", "https://b.example/3", "mailto:x")
    inside = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    maps.web.says[f"{HOME}/sitemap.xml"] = Said(body=f"<urlset>{inside}</urlset>".encode())
    await maps.read()
    assert sorted(await maps.web.urls("frontier.sitemap")) == ["https://a.example/1", "https://www.a.example/2"]


async def test_the_sitemap_of_a_source_replaces_the_usual_ones_and_a_failure_stops_no_other(maps: Maps) -> None:
    first, _ = await maps.web.source("a"), await maps.web.source("b")
    row = await maps.web.records.sources.get(first)
    assert row is not None
    named = msgspec.structs.replace(row, crawl='{"sitemap_url": "/map"}')
    await maps.web.records.sources.change(named)
    maps.web.says[f"{HOME}/map"] = Said(body=b"<html>none")
    maps.web.says["https://b.example/sitemap.xml"] = Said(
        body=b"<urlset><url><loc>https://b.example/1</loc></url></urlset>"
    )
    asked = await maps.read()
    assert [path for path in asked if path.startswith("/")] == ["/map"]
    assert await maps.web.urls("frontier.sitemap") == {"https://b.example/1": PLACE_PRIORITY}
