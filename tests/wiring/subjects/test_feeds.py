"""Feeds polled and searched over real HTTP, by a real worker, on both engines."""

import asyncio
import dataclasses
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from longline.engine.feeds.document_reader import Reader
from longline.engine.feeds.feed_finder import FeedFinder
from longline.engine.feeds.feed_poller import FeedPoller
from longline.engine.feeds.sitemap_reader import SitemapReader
from longline.engine.loop_supervisor import chore, run_loops
from longline.model.feeds.feed_poll import FeedRow, enabled
from longline.model.search.query import Filters, parse_query
from longline.model.sources.source import NewSource
from longline.plugins import Page
from longline.settings import Settings
from longline.wiring.loops.loop_row import LoopParts
from longline.wiring.loops.loop_table import build_loops
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker
from longline.wiring.subjects import feeds as wiring
from longline.wiring.subjects.feeds import feed_loop, feed_parts, sitemap_parts
from longline.wiring.worker import fetch_worker
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

HOME = b'<link rel=alternate type="application/rss+xml" href="/news"><title>Home</title>'


@pytest.fixture
async def platform(settings: Settings, migrated_url: str) -> AsyncIterator[Platform]:
    there = msgspec.structs.replace(settings, database=migrated_url, delay=0.0, host_concurrency=8, feeds=True)
    async with open_platform(there) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


async def count_items(platform: Platform, kind: str) -> int:
    return (await platform.records.search.query(parse_query("", Filters(kind=kind)))).total


def feed(*paths: str) -> Answer:
    items = "".join(f"<item><title>{path}</title><link>{path}</link></item>" for path in paths)
    body = f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode()
    return Answer(body=body, content_type="application/rss+xml")


@asynccontextmanager
async def working(platform: Platform) -> AsyncIterator[None]:
    """Run a worker and the chores around feeds, with short pauses."""
    stop, parts = asyncio.Event(), feed_parts(platform)
    async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
        loops = {
            "worker": fetch_worker(platform, owner).run,
            "feeder": chore(FeedPoller(parts).once, 0.1),
            "finder": chore(FeedFinder(parts, platform.records.sources).once, 0.1),
        }
        running = asyncio.create_task(run_loops(loops, stop))
        yield
        stop.set()
        await running


async def test_the_interval_door_keeps_its_five_redirects(platform: Platform):
    assert (feed_parts(platform).plan.fetch.max_redirects, sitemap_parts(platform).plan.fetch.max_redirects) == (5, 5)


async def polled(platform: Platform, source_id: int, after: int = 0) -> FeedRow:
    """Return the feed after it was polled later than `after` and all its entries were fetched."""
    async with asyncio.timeout(60):
        while True:
            row = await platform.records.feeds.get(source_id)
            if row and row.polled_at and row.polled_at > after and not (await platform.records.tasks.counts())["open"]:
                return row
            await asyncio.sleep(0.05)


async def source(platform: Platform, site: SiteHandle, feed: str | None = None) -> int:
    where = f"{site.url}{feed}" if feed else None
    return (await platform.records.sources.add(NewSource("news", site.url, feed_url=where))).id


async def test_a_feed_is_found_and_polled_and_its_new_entries_are_fetched(platform: Platform) -> None:
    with running_site(pages=5) as site:
        site.site.extra |= {"/": HOME, "/news": feed("/page/1", "/page/2")}
        source_id = await source(platform, site)
        async with working(platform):
            first = await polled(platform, source_id)
            assert (first.url, first.entries) == (f"{site.url}news", 2)
            site.site.extra["/news"] = feed("/page/3", "/page/2", "/page/1")
            await platform.records.feeds.change(source_id, enabled)
            second = await polled(platform, source_id, first.polled_at or 0)
            assert second.entries == 3
        visits = site.visits()
        assert visits["/robots.txt"] == 1, "polls request robots.txt like any other task"
        assert {path: visits[path] for path in visits if path.startswith("/page/")} == {
            f"/page/{n}": 1 for n in (1, 2, 3)
        }
        assert visits["/news"] == 3, "one request of the search, and two polls"
        assert await count_items(platform, "feed") == 0, "a poll is read by the feed poller alone"


async def test_an_unchanged_feed_is_not_sent_again(platform: Platform) -> None:
    with running_site(pages=3) as site:
        site.site.etags = True
        site.site.extra["/news"] = feed("/page/1", "/page/2")
        source_id = await source(platform, site, "news")
        async with working(platform):
            first = await polled(platform, source_id)
            await platform.records.feeds.change(source_id, enabled)
            second = await polled(platform, source_id, first.polled_at or 0)
        asked = [visit.headers.get("if-none-match") for visit in site.requests if visit.path == "/news"]
        assert asked == [None, first.etag]
        assert first.etag is not None
        assert (second.etag, second.entries, second.errors) == (first.etag, 2, 0)
        assert sorted(task.status or 0 for task in await platform.records.tasks.find()) == [200, 200, 200, 304]


async def test_a_feed_that_robots_txt_forbids_is_not_requested(platform: Platform) -> None:
    with running_site(pages=1, robots="User-agent: *\nDisallow: /news\n") as site:
        site.site.extra["/news"] = feed("/page/1")
        source_id = await source(platform, site, "news")
        async with working(platform):
            row = await polled(platform, source_id)
        assert (row.error_type, row.errors, site.visits()["/news"]) == ("forbidden", 1, 0)


async def test_a_failed_poll_is_stored_with_its_kind(platform: Platform) -> None:
    with running_site(pages=1) as site:
        site.site.extra["/news"] = Answer(410)
        source_id = await source(platform, site, "news")
        async with working(platform):
            row = await polled(platform, source_id)
        assert (row.error_type, row.disabled_reason, row.error) == ("gone", "gone", "HTTP 410")


async def test_indexes_of_sitemaps_are_read_to_the_last_sitemap_also_large_and_compressed_ones(
    platform: Platform,
) -> None:
    with running_site(pages=4) as site:
        index = "".join(f"<sitemap><loc>{site.url}{name}</loc></sitemap>" for name in ("a.xml", "b.xml.gz"))
        wide = " " * (platform.settings.max_body + 1)
        site.site.extra |= {
            "/sitemap.xml": Answer(body=f"<sitemapindex>{index}</sitemapindex>".encode()),
            "/a.xml": Answer(body=f"<urlset>{wide}<url><loc>{site.url}page/1</loc></url></urlset>".encode()),
            "/b.xml.gz": Answer(
                body=gzip.compress(f"<urlset><url><loc>{site.url}page/2</loc></url></urlset>".encode())
            ),
        }
        await source(platform, site)
        stop, mapper = asyncio.Event(), SitemapReader(sitemap_parts(platform))
        async with registered_worker(platform, frozenset({"fetch"})) as owner, asyncio.timeout(60):
            loops = {"worker": fetch_worker(platform, owner).run, "mapper": chore(mapper.once, 0.1)}
            running = asyncio.create_task(run_loops(loops, stop))
            while not site.visits()["/page/2"]:  # noqa: ASYNC110 - the site is another thread's
                await asyncio.sleep(0.05)
            stop.set()
            await running
        visits = site.visits()
        assert {path: visits[path] for path in visits if path.startswith("/page/")} == {"/page/1": 1, "/page/2": 1}
        assert (visits["/a.xml"], visits["/b.xml.gz"], visits["/news-sitemap.xml"]) == (1, 1, 1)
        assert await count_items(platform, "sitemap") == 0, "a sitemap is read by its reader alone"


@pytest.mark.parametrize(("feeds", "discovery"), [(False, False), (True, False), (False, True), (True, True)])
async def test_only_loops_that_the_settings_switch_on_run(tmp_path: Path, feeds: bool, discovery: bool) -> None:
    async with open_platform(Settings(data=tmp_path, feeds=feeds, feed_discovery=discovery)) as platform:
        made = set(build_loops(LoopParts(platform, frozenset({"upkeep"})))) & {"feeds", "feed search", "sitemaps"}
        assert made == {name for name, on in (("feeds", feeds), ("feed search", discovery)) if on}


async def test_due_feeds_are_polled_at_the_interval_of_the_settings_and_read_at_once(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "LOOK_INTERVAL_SECONDS", 0.05)
    with running_site(pages=5) as site:
        site.site.extra["/news"] = feed("/page/1")
        first = await source(platform, site, "news")
        rare = msgspec.structs.replace(platform.settings, feed_poll=3600.0)
        stop = asyncio.Event()
        async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
            chores = {"feeds": feed_loop(dataclasses.replace(platform, settings=rare))}
            running = asyncio.create_task(run_loops({"worker": fetch_worker(platform, owner).run, **chores}, stop))
            taken = await polled(platform, first)
            second = await platform.records.sources.add(NewSource("later", site.url, feed_url=f"{site.url}news"))
            await platform.records.feeds.change(first, enabled)
            for _ in range(10):
                await asyncio.sleep(0.05)
            rows = [await platform.records.feeds.get(source_id) for source_id in (first, second.id)]
            stop.set()
            await running
        assert taken.entries == 1
        begun = [(row.run_id, row.polled_at) for row in rows if row]
        assert begun == [(None, taken.polled_at), (None, None)], "the interval of an hour has not passed"


async def test_a_stop_does_not_wait_for_a_document_that_is_being_read(platform: Platform, monkeypatch) -> None:
    reading, stop = asyncio.Event(), asyncio.Event()

    async def entries(_self: Reader, _page: Page) -> list[str]:
        reading.set()
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(Reader, "entries", entries)
    monkeypatch.setattr(wiring, "LOOK_INTERVAL_SECONDS", 0.05)
    with running_site(pages=1) as site:
        site.site.extra["/news"] = feed("/1")
        source_id = await source(platform, site, "news")
        async with registered_worker(platform, frozenset({"fetch", "parse"})) as owner:
            working = asyncio.create_task(fetch_worker(platform, owner).run(stop))
            chores = asyncio.create_task(run_loops({"feeds": feed_loop(platform)}, stop))
            async with asyncio.timeout(60):
                await reading.wait()
                stop.set()
                await asyncio.gather(working, chores)
    row = await platform.records.feeds.get(source_id)
    assert row is not None
    assert (row.polled_at, row.run_id is None) == (None, False), "the document is read after the next start"
