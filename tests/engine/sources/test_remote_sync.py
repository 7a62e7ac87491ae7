"""A real source service with sources that have feeds and sitemaps, on both engines, with hand-made web responses."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable

import pytest

from longline.drivers.sources.source_manager import HttpSourceManager
from longline.engine.feeds.feed_finder import FeedFinder
from longline.engine.feeds.feed_poller import FeedPoller
from longline.engine.feeds.sitemap_reader import SitemapReader
from longline.engine.frontier.standing_runs import CACHE_SECONDS
from longline.engine.sources.remote_sync import HOLD_MS, RemoteSourceSync
from longline.model.duration import MINUTE_MS
from longline.model.errors import Unavailable
from longline.model.feeds.feed_poll import ENTRY_PRIORITY, SEARCH_INTERVAL_MS, FeedRow
from longline.model.frontier.standing_frontier import UrlQuery
from longline.model.runs.run import RunKind
from longline.model.sources.source import SourceRow
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.web import HandMadeWeb, Said, mapped, rss
from tests.servers.source_manager import ROOT, Call, SourceManager, running_manager, shown, token

FEED = "https://a.example/feed"
LONG_AGO = shown(time.time() - 30 * 86_400)


class Errands:
    """A synchronisation and the parts that read its sources."""

    def __init__(self, records: Records, clock: FakeClock, manager: SourceManager, service: HttpSourceManager) -> None:
        self.records, self.clock, self.manager, self.service = records, clock, manager, service
        self.web = HandMadeWeb(records, clock)
        self.sync = self.again()
        self.feeder = FeedPoller(self.web.parts)

    def again(self) -> RemoteSourceSync:
        """Return a synchronisation as a new process makes it."""
        return RemoteSourceSync(self.service, self.records.remote_sources, self._now, feeds=True)

    async def _now(self) -> int:
        self.clock.advance(0.001)
        return self.clock.now()

    async def poll(self, count: int = 1) -> None:
        """Poll due feeds, and again each time they are due."""
        for _ in range(count):
            await self.feeder.once()
            await self.web.answer()
            await self.feeder.once()
            self.clock.advance(15 * 60)

    async def bring(self) -> None:
        self.clock.advance(0.001)
        await self.sync.pull()

    async def source(self, ref: str = "a") -> SourceRow:
        row = await self.records.remote_sources.get(ref)
        assert row is not None
        return row

    async def feed(self, ref: str = "a") -> FeedRow:
        feed = await self.records.feeds.get((await self.source(ref)).id)
        assert feed is not None
        return feed

    def polls(self, url: str = FEED) -> int:
        return self.web.asked.count(url)


@pytest.fixture
async def errands(records: Records, clock: FakeClock) -> AsyncIterator[Errands]:
    with running_manager() as manager:
        service = HttpSourceManager(manager.url, token)
        yield Errands(records, clock, manager, service)
        await service.close()


def refusing(manager: SourceManager, wanted: Callable[[Call], bool], status: int = 500) -> None:
    """Let the service respond to some calls with a status, and to the others as usual."""
    manager.trouble = lambda call: (status, b"{}") if wanted(call) else None


# -- polling --------------------------------------------------------------------------------------------------------


async def test_entries_of_remote_feeds_are_fetched_under_the_ids_of_the_service(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    errands.web.says[FEED] = rss("https://a.example/1", "https://a.example/2")
    await errands.bring()
    await errands.poll()
    assert await errands.web.urls("frontier.feed") == dict.fromkeys(
        ["https://a.example/1", "https://a.example/2"], ENTRY_PRIORITY
    )
    found, total = await errands.records.standing.find(UrlQuery(source="a"))
    assert (total, {url.source for url in found}) == (2, {"a"})
    run = await errands.records.runs.first(RunKind.STANDING_FEED, "a")
    assert run is not None
    assert run.source_id == (await errands.source()).id
    assert errands.manager.told() == [], "the status of the feed has not changed"


async def test_21_all_of_many_feeds_are_polled(errands: Errands) -> None:
    errands.manager.most = 100
    for number in range(257):
        errands.manager.add(f"s{number}", feed_url=f"https://s{number}.example/feed")
    await errands.bring()
    while await errands.feeder.begin():
        pass
    polls = [run.seed for run in await errands.records.runs.find(limit=1000)]
    assert sorted(polls) == sorted(source["feed_url"] for source in errands.manager.sources.values())
    lists = [call.query for call in errands.manager.calls if call.path == ROOT]
    assert [query["page"] for query in lists if query.get("feed_active")] == ["1", "2", "3"]
    assert all(100 <= int(query["limit"]) <= 500 for query in lists)


async def test_the_fields_of_a_feed_in_the_service_are_applied(errands: Errands) -> None:
    said = errands.manager.add("a", feed_url=FEED, feed_poll_interval_minutes=60)
    errands.manager.add("off", feed_url="https://off.example/feed", enabled=False)
    errands.manager.add("spider", feed_url="https://spider.example/feed", ingestion_mode="spider")
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await errands.poll(4)
    assert errands.web.asked.count(FEED) == 1, "an hour has not passed"
    assert {url for url in errands.web.asked if url.endswith("/feed")} == {FEED}
    said["feed_poll_interval_minutes"] = 1
    await errands.bring()
    await errands.poll(2)
    assert (errands.polls(), (await errands.feed()).every_ms) == (3, MINUTE_MS)
    said["enabled"] = False
    await errands.bring()
    await errands.poll(2)
    assert errands.polls() == 3


async def test_a_changed_feed_url_is_polled_like_a_new_one(errands: Errands) -> None:
    said, other = errands.manager.add("a", feed_url=FEED), "https://a.example/other"
    errands.web.says |= {other: rss("https://a.example/1")}
    await errands.bring()
    await errands.poll(2)
    assert (await errands.feed()).errors == 2
    said["feed_url"] = other
    await errands.bring()
    feed = await errands.feed()
    assert (feed.url, feed.errors, feed.etag, feed.due_at) == (other, 0, None, errands.clock.now())
    await errands.poll()
    assert ((await errands.feed()).errors, errands.polls(other)) == (0, 1)


# -- reporting ------------------------------------------------------------------------------------------------------


async def test_a_disabled_and_an_enabled_feed_are_reported_once_each(errands: Errands) -> None:
    said = errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(2)
    assert await errands.sync.push() == 0, "two failures are not enough"
    await errands.poll()
    assert [await errands.sync.push() for _ in range(2)] == [1, 0]
    assert errands.manager.told() == [("a/feed-disable", {"reason": "not_found"})]
    for _ in range(3):
        await errands.bring()
        await errands.poll(3)
    assert errands.polls() == 3, "a disabled feed is not polled"
    errands.clock.advance(100 * 86_400)
    await errands.bring()
    await errands.poll(2)
    assert errands.polls() == 3, "the time of the service decides"

    said["feed_disabled_at"] = LONG_AGO
    await errands.bring()
    await errands.poll(3)
    assert errands.polls() == 4, "one trial"
    assert await errands.sync.push() == 1
    assert errands.manager.told()[1:] == [("a/feed-disable", {"reason": "not_found"})]
    await errands.bring()

    said["feed_disabled_at"] = LONG_AGO
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await errands.poll()
    assert [await errands.sync.push() for _ in range(2)] == [1, 0]
    assert errands.manager.told()[2:] == [("a/feed-enable", {})]
    await errands.bring()
    await errands.poll(2)
    feed = await errands.feed()
    assert (feed.disabled_at, feed.errors, errands.polls()) == (None, 0, 7)
    assert await errands.sync.push() == 0


async def test_a_feed_disabled_in_the_service_is_disabled_here(errands: Errands) -> None:
    said = errands.manager.add("a", feed_url=FEED)
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await errands.poll()
    said |= {"feed_disabled_at": shown(time.time()), "feed_disable_reason": "by hand"}
    await errands.bring()
    await errands.poll(3)
    assert (errands.polls(), (await errands.feed()).disabled_reason) == (1, "by hand")
    del said["feed_disabled_at"], said["feed_disable_reason"]
    await errands.bring()
    await errands.poll()
    assert (errands.polls(), (await errands.feed()).disabled_at) == (2, None)
    assert await errands.sync.push() == 0
    assert errands.manager.told() == [], "changes of the service are not reported back"


async def test_a_status_not_reported_before_a_death_is_reported_by_the_next_process(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(3)
    errands.sync = errands.again()
    await errands.bring()
    assert (await errands.feed()).disabled_reason == "not_found", "an older list changes nothing"
    assert await errands.sync.push() == 1
    assert errands.manager.told() == [("a/feed-disable", {"reason": "not_found"})]


async def test_a_status_is_reported_again_after_a_death_before_its_record(
    errands: Errands, monkeypatch: pytest.MonkeyPatch
) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(3)

    async def dies(_: SourceRow) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as dying:
        dying.setattr(errands.records.remote_sources, "mark_reported", dies)
        with pytest.raises(asyncio.CancelledError):
            await errands.sync.push()
    errands.sync = errands.again()
    await errands.bring()
    assert await errands.sync.push() == 0, "another process may be reporting it"
    errands.clock.advance(HOLD_MS / 1000)
    assert [await errands.sync.push() for _ in range(2)] == [1, 0]
    assert errands.manager.told() == [("a/feed-disable", {"reason": "not_found"})] * 2


async def test_simultaneous_reports_of_one_status_are_sent_once(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(3)
    told = await asyncio.gather(*(errands.again().push() for _ in range(4)))
    assert (sum(told), errands.manager.told()) == (1, [("a/feed-disable", {"reason": "not_found"})])


async def test_a_failed_service_loses_no_status_and_stops_no_poll(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    errands.manager.add("b", feed_url="https://b.example/feed")
    errands.web.says["https://b.example/feed"] = rss("https://b.example/1")
    await errands.bring()
    for status in (500, 401, 302, 429):
        errands.manager.answer_always(status)
        await errands.poll(3)
        for errand in (errands.sync.push, errands.sync.pull):
            with pytest.raises(Unavailable, match=str(status)):
                await errand()
    assert errands.polls("https://b.example/feed") == 12
    assert errands.polls() == 3
    errands.manager.trouble = lambda _: None
    errands.manager.calls.clear()
    await errands.bring()
    assert [await errands.sync.push() for _ in range(2)] == [1, 0]
    assert errands.manager.told() == [("a/feed-disable", {"reason": "not_found"})]


async def test_a_feed_that_recovered_before_the_report_is_not_reported(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(3)
    errands.clock.advance(48 * 3600)
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.poll()
    assert (await errands.feed()).disabled_at is None
    assert (await errands.sync.push(), errands.manager.told()) == (0, [])


async def test_a_failed_report_of_a_feed_does_not_prevent_the_others(errands: Errands) -> None:
    for ref in "abc":
        errands.manager.add(ref, feed_url=f"https://{ref}.example/feed")
    await errands.bring()
    await errands.poll(3)
    refusing(errands.manager, lambda call: "/b/" in call.path)
    with pytest.raises(Unavailable, match="500"):
        await errands.sync.push()
    assert {ref for ref, said in errands.manager.sources.items() if "feed_disabled_at" in said} == {"a", "c"}
    assert [row.ref for row in await errands.records.remote_sources.claim(9, 1)] == ["b"], (
        "the status may be sent again"
    )


async def test_a_rejected_status_is_logged_once(errands: Errands, caplog: pytest.LogCaptureFixture) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    await errands.poll(3)
    refusing(errands.manager, lambda call: call.method == "PATCH", 422)
    assert [await errands.sync.push() for _ in range(3)] == [1, 0, 0]
    assert [r.getMessage() for r in caplog.records if "rejected" in r.getMessage()] == [
        "source service rejected a feed status"
    ]


# -- feed searches and sitemaps -------------------------------------------------------------------------------------


async def search(errands: Errands) -> None:
    finder = FeedFinder(errands.web.parts, errands.records.sources)
    while await finder.once():
        await errands.web.answer()


async def test_a_found_feed_is_written_to_the_source_with_all_its_fields(errands: Errands) -> None:
    said = errands.manager.add("a", rate_limit=10, extraction_profile={"x": 1})
    before = dict(said)
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await search(errands)
    assert [await errands.sync.push() for _ in range(2)] == [1, 0]
    assert said == before | {"feed_url": FEED}
    assert [path for path, _ in errands.manager.told("PUT")] == ["a"]
    await errands.bring()
    await errands.poll()
    assert await errands.web.urls("frontier.feed") == {"https://a.example/1": ENTRY_PRIORITY}


async def test_a_found_feed_is_polled_before_it_is_reported(errands: Errands) -> None:
    errands.manager.add("a")
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await search(errands)
    errands.manager.answer_always(503)
    with pytest.raises(Unavailable):
        await errands.sync.push()
    await errands.poll()
    assert (await errands.feed()).entries == 1
    errands.manager.trouble = lambda _: None
    await errands.bring()
    assert (await errands.feed()).url == FEED, "a feed that is not reported yet is kept"
    assert await errands.sync.push() == 1


async def test_a_feed_added_in_the_service_meanwhile_is_not_overwritten(errands: Errands) -> None:
    said, other = errands.manager.add("a"), "https://a.example/better"
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await search(errands)
    said["feed_url"] = other
    assert await errands.sync.push() == 1
    assert errands.manager.told("PUT") == []
    await errands.bring()
    assert (await errands.feed()).url == other


async def test_a_source_is_searched_once_a_week_even_if_the_service_stores_no_feed(errands: Errands) -> None:
    errands.manager.add("none")
    errands.manager.add("a")
    errands.web.says[FEED] = rss("https://a.example/1")
    refusing(errands.manager, lambda call: call.method == "PUT", 200)
    for _ in range(3):
        await errands.bring()
        await search(errands)
        await errands.sync.push()
        errands.clock.advance(3600)
    homes = [url for url in errands.web.asked if url in ("https://a.example/", "https://none.example/")]
    assert sorted(homes) == ["https://a.example/", "https://none.example/"]
    errands.sync = errands.again()
    errands.clock.advance(SEARCH_INTERVAL_MS / 1000)
    await errands.bring()
    await search(errands)
    assert errands.web.asked.count("https://none.example/") == 2


async def test_sitemaps_of_remote_sources_are_read_under_their_ids(errands: Errands, clock: FakeClock) -> None:
    errands.manager.add("a", sitemap_url="https://a.example/maps.xml")
    errands.manager.add("off", enabled=False)
    place = "<urlset><url><loc>https://a.example/1</loc></url></urlset>"
    errands.web.says["https://a.example/maps.xml"] = Said(body=place.encode())
    await errands.bring()
    reader = SitemapReader(mapped(errands.web, clock))
    while await reader.once():
        await errands.web.answer()
    [url] = (await errands.records.standing.find(UrlQuery(kind="frontier.sitemap")))[0]
    assert (url.url, url.source) == ("https://a.example/1", "a")
    assert not [asked for asked in errands.web.asked if "off.example" in asked]


# -- unreliable lists -----------------------------------------------------------------------------------------------


async def test_a_removed_source_is_not_polled_and_a_returned_one_is(errands: Errands) -> None:
    said = errands.manager.add("a", feed_url=FEED)
    errands.manager.add("b", feed_url="https://b.example/feed")
    errands.web.says |= {FEED: rss("https://a.example/1"), "https://b.example/feed": rss("https://b.example/1")}
    await errands.bring()
    await errands.poll()
    del errands.manager.sources["a"]
    await errands.bring()
    await errands.poll(2)
    assert (errands.polls(), errands.polls("https://b.example/feed")) == (1, 3)
    errands.manager.sources["a"] = said
    await errands.bring()
    await errands.poll()
    assert (errands.polls(), (await errands.source()).name) == (2, "a")


@pytest.mark.parametrize("said", [b"<html>", b'{"sources": 1}', b"[]"])
async def test_an_invalid_list_removes_no_source(errands: Errands, said: bytes) -> None:
    errands.manager.add("a", feed_url=FEED)
    await errands.bring()
    errands.manager.answer_always(200, said)
    with pytest.raises(Unavailable):
        await errands.bring()
    await errands.poll()
    assert errands.polls() == 1


async def test_a_list_that_ends_early_or_repeats_itself_removes_no_source(errands: Errands) -> None:
    errands.manager.most = 2
    for ref in "abcde":
        errands.manager.add(ref, feed_url=f"https://{ref}.example/feed")
    await errands.bring()
    refusing(errands.manager, lambda call: call.query.get("page") == "2")
    with pytest.raises(Unavailable):
        await errands.bring()
    first = b'{"sources": [{"id": "a", "name": "a", "url": "https://a.example/"}], "total": 5, "total_pages": 5}'
    errands.manager.answer_always(200, first)
    calls = len(errands.manager.calls)
    with pytest.raises(Unavailable, match="repeats itself"):
        await errands.bring()
    assert len(errands.manager.calls) == calls + 2, "a list that repeats itself is not read further"
    assert await errands.records.remote_sources.present() == list("abcde")
    await errands.poll()
    assert errands.polls("https://e.example/feed") == 1


async def test_a_list_with_gaps_removes_no_source_that_the_service_still_has(errands: Errands) -> None:
    for ref in "ab":
        errands.manager.add(ref, feed_url=f"https://{ref}.example/feed")
    await errands.bring()
    only = b'{"sources": [{"id": "a", "name": "a", "url": "https://a.example/"}], "total": 1, "total_pages": 1}'
    errands.manager.trouble = lambda call: (200, only) if call.path == ROOT else None
    await errands.bring()
    assert await errands.records.remote_sources.present() == ["a", "b"]
    half = b'{"sources": [{"id": "a", "name": "a", "url": "https://a.example/"}], "total": 2, "total_pages": 1}'
    empty = b'{"sources": [], "total": 2, "total_pages": 1}'
    errands.manager.trouble = lambda call: (200, half if call.query.get("page") == "1" else empty)
    calls = len(errands.manager.calls)
    await errands.bring()
    assert len(errands.manager.calls) == calls + 4, "no source is requested by its id"
    assert (await errands.source("b")).feed_listed, "an omitted source keeps its feed"


async def test_a_list_of_active_feeds_with_gaps_disables_no_feed(errands: Errands) -> None:
    for ref in "ab":
        errands.manager.add(ref, feed_url=f"https://{ref}.example/feed")
    await errands.bring()
    first = json.dumps({"sources": [errands.manager.sources["a"]], "total": 2, "total_pages": 1}).encode()
    empty = b'{"sources": [], "total": 2, "total_pages": 1}'
    pages = {"1": first, "2": empty}
    errands.manager.trouble = lambda call: (200, pages[call.query["page"]]) if "feed_active" in call.query else None
    await errands.bring()
    assert [(await errands.source(ref)).feed_listed for ref in "ab"] == [True, True]
    pages["1"] = first.replace(b'"total": 2', b'"total": 1')
    await errands.bring()
    assert [(await errands.source(ref)).feed_listed for ref in "ab"] == [True, False]


async def test_an_invalid_source_is_logged_once(errands: Errands, caplog: pytest.LogCaptureFixture) -> None:
    errands.manager.add("a", url="nowhere")
    errands.manager.add("b")
    for _ in range(3):
        await errands.bring()
    assert await errands.records.remote_sources.present() == ["b"]
    warned = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in warned] == ["remote source list has invalid entries"]


async def test_a_change_of_a_source_changes_its_standing_run(errands: Errands) -> None:
    said = errands.manager.add("a", feed_url=FEED)
    errands.web.says[FEED] = rss("https://a.example/1")
    await errands.bring()
    await errands.poll()
    said |= {"name": "other", "render_mode": "dynamic", "rate_limit": 7, "selectors": {"article": {"title": "h2"}}}
    await errands.bring()
    errands.clock.advance(CACHE_SECONDS)
    await errands.poll()
    run = await errands.web.standing.get(RunKind.STANDING_FEED, "a")
    assert (run.plan.source_name, run.plan.fetch.render, run.plan.politeness.delay_ms) == ("other", True, 7000)
    assert run.plan.config["selectors"] == {"article": {"title": "h2"}}


async def test_the_list_of_active_feeds_is_not_requested_without_feed_polling(errands: Errands) -> None:
    errands.manager.add("a", feed_url=FEED)
    errands.clock.advance(1)
    await RemoteSourceSync(errands.service, errands.records.remote_sources, errands._now, feeds=False).pull()
    assert [call.query.get("feed_active") for call in errands.manager.calls] == [None]
    assert (await errands.source()).feed_listed
