"""Sources over HTTP, in source-manager's shape; and jobs for all of them."""

import asyncio
import json
from functools import reduce
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from longline.drivers.sources.source_manager import HttpSourceManager
from longline.engine.feeds.feed_finder import FeedFinder
from longline.engine.feeds.feed_poller import FeedPoller
from longline.engine.feeds.sitemap_reader import SitemapReader
from longline.model.discovery.link import LinkQuery, NewLink
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.sources.source import NewSource, RemoteSource
from longline.model.sources.source_uses import SourceUse
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.web import MISSING, HandMadeWeb, Said, mapped, rss
from tests.servers.source_manager import running_manager, token
from tests.surfaces.intervals.stage import Stage, opened, seconds, shown

PATH = "/api/v1/sources"


async def test_a_source_comes_back_as_it_was_sent(stage: Stage):
    sent = {
        "name": "news",
        "url": "https://news.example/",
        "rate_limit": "10s",
        "max_depth": 2,
        "selectors": {"article": {"title": "h1"}},
        "article_url_patterns": ["/a/"],
        "feed_url": "https://news.example/feed",
        "identity_key": "news.example",
        "ingestion_mode": "both",
        "allow_source_discovery": True,
        "priority": "high",
    }
    made = await stage.ask("POST", PATH, sent, 201)
    assert {name: made[name] for name in sent} == sent
    assert {name: made[name] for name in ("enabled", "type", "render_mode", "feed_poll_interval_minutes", "time")} == {
        "enabled": True,
        "type": "news",
        "render_mode": "static",
        "feed_poll_interval_minutes": 15,
        "time": [],
    }
    assert UUID(made["id"]).version == 7
    assert await stage.ask("GET", f"{PATH}/{made['id']}") == made
    assert await stage.ask("GET", f"{PATH}/by-identity?identity_key=news.example") == made
    changed = await stage.ask("PUT", f"{PATH}/{made['id']}", {"rate_limit": 7, "feed_url": None, "name": "new"})
    assert (changed["rate_limit"], "feed_url" in changed, changed["name"], changed["max_depth"]) == (
        "7",
        False,
        "new",
        2,
    )
    await stage.ask("DELETE", f"{PATH}/{made['id']}", expect=204)
    assert await stage.ask("GET", f"{PATH}/{made['id']}", expect=404) == {"error": "Source not found"}
    assert await stage.ask("GET", f"{PATH}/undefined", expect=404) == {"error": "Source not found"}


async def test_an_invalid_source_is_400_and_a_taken_name_409(stage: Stage):
    made = await stage.source("taken")
    for body in (
        {},
        {"name": "a"},
        {"url": "https://a.example/"},
        {"name": "a", "url": "a.example"},
        {"name": "a", "url": "https:///a.example"},
        {"name": 1, "url": "https://a.example/"},
        {"name": "a", "url": "https://a.example/", "max_depth": "2"},
        {"name": "a", "url": "https://a.example/", "rate_limit": []},
        {"name": "a", "url": "https://a.example/", "ingestion_mode": "all"},
        {"name": "a", "url": "https://a.example/", "selectors": "h1"},
    ):
        await stage.ask("POST", PATH, body, 400)
    await stage.ask("POST", PATH, {"name": "taken", "url": "https://a.example/"}, 409)
    await stage.ask("PUT", f"{PATH}/{made}", {"url": "nowhere"}, 400)
    await stage.ask("PUT", f"{PATH}/{made}", {"url": "https:///a.example"}, 400)
    assert (await stage.ask("GET", PATH))["total"] == 1


async def test_a_selector_that_cannot_be_parsed_is_refused(stage: Stage):
    body = {"selectors": {"article": {"title": "h1::text"}}}
    told = await stage.ask("POST", PATH, {"name": "a", "url": "https://a.example/"} | body, 400)
    assert told["error"].startswith("selectors.article.title: bad CSS selector 'h1::text'")
    await stage.ask("PUT", f"{PATH}/{await stage.source('b')}", body, 400)
    told = await stage.ask("POST", f"{PATH}/test-crawl", {"url": "https://a.example/"} | body, 400)
    assert told["error"].startswith("selectors.article.title")


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "(a?){990}b", 7, None])
@pytest.mark.parametrize("where", ["rules.allow", "rules.disallow", "article_url_patterns"])
async def test_a_pattern_that_cannot_be_compiled_is_refused(stage: Stage, where: str, pattern: Any):
    patterns = ["/fine", pattern]
    body = {"rules": {where.partition(".")[2]: patterns}} if "." in where else {where: patterns}
    told = await stage.ask("POST", PATH, {"name": "a", "url": "https://a.example/"} | body, 400)
    assert told["error"].startswith(f"{where}")
    made = await stage.source("b")
    await stage.ask("PUT", f"{PATH}/{made}", body, 400)


@pytest.mark.parametrize(
    "rate", ["fast", "10/s", "-1", -1, "1s fast", "1 parsec", "0x10", "²", "1e3s", "nan", 1e999, "99999999h", 86401]
)
async def test_a_rate_limit_that_is_none_is_refused(stage: Stage, rate: Any):
    said = {"name": "news", "url": "https://news.example/"}
    body = json.dumps(said | {"rate_limit": rate})
    answer = await stage.client.post(PATH, content=body)
    assert answer.status_code == 400, answer.text
    path = f"{PATH}/{await stage.source()}"
    assert (await stage.client.put(path, content=json.dumps({"rate_limit": rate}))).status_code == 400
    assert (await stage.ask("GET", path))["rate_limit"] == "1s"


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        ("10s", "10s"),
        ("1m30s", "1m30s"),
        (" 2 ", "2"),
        (7, "7"),
        (0.5, "0.5"),
        ("", ""),
        ("500ms", "500ms"),
        (0, "0"),
        ("24h", "24h"),
    ],
)
async def test_a_rate_limit_is_a_duration_or_a_number_of_seconds(stage: Stage, rate: Any, shown: str):
    path = f"{PATH}/{await stage.source(rate_limit=rate)}"
    assert (await stage.ask("GET", path))["rate_limit"] == shown


async def test_concurrent_changes_of_a_source_are_all_kept(stage: Stage):
    said = {"name": "other", "rate_limit": "9", "max_depth": 4, "feed_url": "https://f.example/", "enabled": False}
    for n in range(3):
        path = f"{PATH}/{await stage.source(f's{n}')}"
        told = said | {"name": f"other {n}"}
        await asyncio.gather(*(stage.ask("PUT", path, {name: value}) for name, value in told.items()))
        assert (await stage.ask("GET", path)).items() >= told.items()


async def test_switches(stage: Stage):
    path = f"{PATH}/{await stage.source(feed_url='https://news.example/feed')}"
    off = await stage.ask("PATCH", f"{path}/disable", {"reason": "broken"})
    assert (off["enabled"], off["disable_reason"], seconds(off["disabled_at"])) == (False, "broken", stage.now)
    assert (await stage.ask("GET", f"{PATH}?enabled=true"))["sources"] == []
    on = await stage.ask("PATCH", f"{path}/enable")
    assert (on["enabled"], "disable_reason" in on) == (True, False)
    assert (await stage.ask("PATCH", f"{path}/feed-disable", {"reason": "gone"}))["feed_disable_reason"] == "gone"
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 0
    assert "feed_disabled_at" not in await stage.ask("PATCH", f"{path}/feed-enable")
    await stage.ask("PATCH", f"{path}/explode", expect=404)


async def test_a_budget_is_set_and_lifted(stage: Stage):
    made = await stage.ask("POST", PATH, {"name": "bounded", "url": "https://bounded.example/"}, 201)
    where = f"{PATH}/{made['id']}"
    assert "budget" not in made
    limited = await stage.ask("PUT", f"{where}/budget", {"budget": 3})
    assert (limited["budget"], limited["admitted"]) == (3, 0)
    assert await stage.ask("GET", where) == limited
    for wrong in ({}, {"budget": 0}, {"budget": -1}, {"budget": "3"}, {"budget": True}, {"budget": 10**30}):
        assert "budget" in (await stage.ask("PUT", f"{where}/budget", wrong, 400))["error"]
    assert "budget" not in await stage.ask("PUT", f"{where}/budget", {"budget": None})
    assert "budget" not in await stage.ask("GET", where)
    await stage.ask("PUT", f"{PATH}/7/budget", {"budget": 3}, 404)


async def test_lists_come_in_pages(stage: Stage):
    for n in range(5):
        await stage.source(f"s{n}")
    first = await stage.ask("GET", f"{PATH}?limit=2&page=2&sort_by=name&sort_order=desc")
    assert [one["name"] for one in first["sources"]] == ["s2", "s1"]
    assert {k: first[k] for k in first if k != "sources"} == {"total": 5, "page": 2, "per_page": 2, "total_pages": 3}
    found = await stage.ask("GET", f"{PATH}?search=S3")
    assert [one["name"] for one in found["sources"]] == ["s3"]
    assert (await stage.ask("GET", f"{PATH}?limit=9999"))["per_page"] == 500


def fnv1a(text: str) -> int:
    """Return FNV-1a of 32 bits, by its definition."""
    return reduce(lambda value, byte: (value ^ byte) * 16_777_619 % 2**32, text.encode(), 2_166_136_261)


async def test_three_hundred_sources_get_their_jobs(stage: Stage):
    await stage.source("off", enabled=False)
    add = stage.platform.records.sources.add
    rows = await asyncio.gather(*(add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(300)))
    sources = [row.public_id for row in rows]
    done = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    assert (done["sources_seen"], done["sources_enabled"]) == (301, 300)
    assert (sorted(done["created"]), len(done["skipped_disabled"]), "errors" in done) == (sorted(sources), 1, False)
    times = {job["source_id"]: job["next_run_at"] for job in await stage.jobs()}
    assert len(times) == 250, "a list holds no more"
    staggered = {source: shown(stage.now + fnv1a(source) % 300 * 300) for source in times}
    assert times == staggered, "each at its own place, five minutes apart"
    again = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    assert (again["created"], len(again["already_has_job"])) == ([], 300)
    assert {job["source_id"]: job["next_run_at"] for job in await stage.jobs()} == times


async def test_an_hourly_job_made_for_a_source_runs_hourly(stage: Stage):
    await stage.source("news", rate_limit=10)
    await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    [job] = await stage.jobs()
    assert (job["interval_minutes"], job["interval_type"], job["auto_managed"]) == (60, "minutes", True)
    first = seconds(job["next_run_at"])
    stage.until(first)
    await stage.run()
    assert seconds((await stage.get(job))["next_run_at"]) == first + 3600


async def test_a_disabled_source_is_not_crawled_until_it_is_enabled(stage: Stage):
    job = await stage.recurring(30)
    path = f"{PATH}/{job['source_id']}"
    stage.until(seconds(job["next_run_at"]))
    await stage.poll()
    await stage.ask("PATCH", f"{path}/disable", {"reason": "broken"})
    found = await stage.get(job)
    assert (found["status"], found["is_paused"], "next_run_at" in found) == ("paused", True, False)
    [run] = await stage.runs(job)
    assert (run["status"], run["error_message"]) == ("cancelled", "the source was disabled")
    assert not (await stage.platform.records.tasks.counts())["open"]
    assert (await stage.ask("POST", "/api/v1/admin/sync-enabled-sources"))["resumed"] == []
    assert (await stage.get(job))["status"] == "paused"
    await stage.ask("PATCH", f"{path}/enable")
    found = await stage.get(job)
    assert (found["status"], seconds(found["next_run_at"])) == ("scheduled", stage.now)
    await stage.ask("POST", f"/api/v1/jobs/{job['id']}/pause")
    await stage.ask("PATCH", f"{path}/disable")
    await stage.ask("PATCH", f"{path}/enable")
    assert (await stage.get(job))["status"] == "paused", "a person's word stands"


async def test_enabling_gives_a_source_its_job(stage: Stage):
    source = await stage.source("quiet", enabled=False)
    await stage.ask("PATCH", f"{PATH}/{source}/enable")
    [job] = await stage.jobs()
    assert (job["source_id"], job["auto_managed"], seconds(job["next_run_at"])) == (source, True, stage.now)
    await stage.ask("POST", f"/api/v2/jobs/{job['id']}/force-run", expect=202)
    await stage.ask("PATCH", f"{PATH}/{source}/disable")
    assert (await stage.get(job))["status"] == "paused"


async def test_a_job_made_for_a_source_follows_its_changes(stage: Stage):
    source = await stage.source("news", rate_limit=10)
    await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    [job] = await stage.jobs()
    said = {"name": "other", "url": "https://other.example/", "rate_limit": "3", "max_depth": 6, "priority": "high"}
    await stage.ask("PUT", f"{PATH}/{source}", said)
    after = await stage.get(job)
    told = {name: after[name] for name in ("source_name", "url", "interval_minutes", "priority")}
    assert told == {"source_name": "other", "url": said["url"], "interval_minutes": 67, "priority": 75}
    assert (after["status"], after["next_run_at"]) == ("scheduled", job["next_run_at"]), "not its state, nor its time"
    await stage.ask("PUT", f"{PATH}/{source}", {"enabled": False})
    assert (await stage.get(job))["status"] == "paused"
    await stage.ask("PUT", f"{PATH}/{source}", {"enabled": True})
    found = await stage.get(job)
    assert (found["status"], found["next_run_at"]) == ("scheduled", shown(stage.now))


async def test_a_job_of_a_persons_own_keeps_its_terms(stage: Stage):
    job = await stage.recurring(45)
    await stage.ask("PUT", f"{PATH}/{job['source_id']}", {"name": "other", "rate_limit": 3})
    assert await stage.get(job) == job


async def test_a_source_that_is_forgotten_takes_its_recurring_job_with_it(stage: Stage):
    job = await stage.recurring(30)
    once = await stage.job(job["source_id"])
    stage.until(seconds(job["next_run_at"]))
    await stage.poll()
    assert (await stage.get(job))["status"] == "running"
    await stage.ask("DELETE", f"{PATH}/{job['source_id']}", expect=204)
    assert [found["id"] for found in await stage.jobs()] == [once["id"]]
    assert not (await stage.ask("GET", f"/api/v1/jobs/{job['id']}/executions"))["total"]
    await stage.ask("DELETE", f"{PATH}/{job['source_id']}", expect=404)


FEED = "https://news.example/feed"
MINUTE, HOUR = 60, 3600


class Reader:
    """A poller and a finder of feeds, in a web with answers that a test sets."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.web = stage, HandMadeWeb(stage.platform.records)
        self.feeder = FeedPoller(self.web.parts)
        self.finder = FeedFinder(self.web.parts, stage.platform.records.sources)

    async def look(self, said: Said | None = None) -> int:
        """Poll the due feeds, which get this answer; return the number of requests for the feed."""
        if said is not None:
            self.web.says[FEED] = said
        before = self.web.asked.count(FEED)
        await self.feeder.once()
        await self.web.answer()
        await self.feeder.once()
        return self.web.asked.count(FEED) - before

    async def search(self) -> None:
        """Search for feeds until no source is due."""
        while await self.finder.once():
            await self.web.answer()


@pytest.fixture
def reader(stage: Stage) -> Reader:
    return Reader(stage)


async def with_feed(stage: Stage, **more: Any) -> str:
    return f"{PATH}/{await stage.source(feed_url=FEED, feed_poll_interval_minutes=1, **more)}"


async def test_21_entries_of_a_feed_become_urls_of_the_frontier(stage: Stage, reader: Reader):
    source = (await with_feed(stage)).removeprefix(f"{PATH}/")
    await reader.look(rss("https://news.example/1", "https://other.example/2", "mailto:nobody"))
    found = (await stage.ask("GET", "/api/v1/frontier?origin=feed"))["urls"]
    assert sorted((one["url"], one["priority"], one["source_id"]) for one in found) == [
        ("https://news.example/1", 7, source),
        ("https://other.example/2", 7, source),
    ]


async def test_21_the_third_404_disables_and_a_success_after_the_cooldown_enables(stage: Stage, reader: Reader):
    path = await with_feed(stage)
    for _ in range(2):
        assert await reader.look(MISSING) == 1
        assert "feed_disabled_at" not in await stage.ask("GET", path)
        stage.advance(MINUTE)
    assert await reader.look(Said(304)) == 1, "Not Modified is a success, and resets the failures"
    for _ in range(3):
        stage.advance(MINUTE)
        assert await reader.look(MISSING) == 1
    off = await stage.ask("GET", path)
    assert (off["feed_disable_reason"], seconds(off["feed_disabled_at"])) == ("not_found", stage.now)
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 0
    stage.advance(48 * HOUR - 1)
    assert await reader.look() == 0
    stage.advance(1)
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 1, "a trial is due"
    assert await reader.look(MISSING) == 1, "one trial in each cooldown"
    assert seconds((await stage.ask("GET", path))["feed_disabled_at"]) == stage.now
    stage.advance(48 * HOUR)
    assert await reader.look(rss("https://news.example/1")) == 1
    assert "feed_disabled_at" not in await stage.ask("GET", path)
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 1


@pytest.mark.parametrize(
    ("said", "times", "reason", "hours"),
    [
        (Said(403), 5, "forbidden", 24),
        (Said(410), 1, "gone", 72),
        (Said(503), 10, "upstream_failure", 6),
        (Said(None, reason="dns"), 10, "network", 12),
        (Said(body=b"<html>no feed"), 5, "parse_error", 24),
    ],
)
async def test_21_each_kind_of_failure_has_its_patience_and_its_cooldown(
    stage: Stage, reader: Reader, said: Said, times: int, reason: str, hours: int
):
    path = await with_feed(stage)
    for _ in range(times):
        assert "feed_disabled_at" not in await stage.ask("GET", path)
        assert await reader.look(said) == 1
        stage.advance(MINUTE)
    assert (await stage.ask("GET", path))["feed_disable_reason"] == reason
    stage.advance(hours * HOUR - 2 * MINUTE)
    assert await reader.look() == 0
    stage.advance(MINUTE)
    assert await reader.look() == 1


async def test_21_a_feed_that_throttles_is_left_alone_for_longer_each_time(stage: Stage, reader: Reader):
    path = await with_feed(stage)
    assert await reader.look(Said(429)) == 1
    for minutes in (5, 10, 20, 40, 80, 160, 320, 480, 480):
        stage.advance(minutes * MINUTE - 1)
        assert await reader.look() == 0, minutes
        stage.advance(1)
        assert await reader.look() == 1, minutes
    assert "feed_disabled_at" not in await stage.ask("GET", path), "that alone never disables it"


async def test_21_two_hundred_and_fifty_sources_are_all_polled(stage: Stage, reader: Reader):
    add = stage.platform.records.sources.add
    feeds = [f"https://s{n}.example/feed" for n in range(250)]
    rows = [NewSource(f"s{n}", f"https://s{n}.example/", feed_url=url) for n, url in enumerate(feeds)]
    await asyncio.gather(*map(add, rows))
    for _ in range(4):
        await reader.look()
    assert sorted(reader.web.asked) == sorted(feeds), "each of them, once"


async def test_13_only_feeds_of_enabled_sources_in_a_feed_mode_are_polled_at_their_interval(
    stage: Stage, reader: Reader
):
    path = await with_feed(stage)
    for body, polled in (({"ingestion_mode": "spider"}, 0), ({"enabled": False}, 0)):
        await stage.ask("PUT", path, body)
        assert await reader.look(Said(304)) == polled
    await stage.ask("PUT", path, {"ingestion_mode": "both", "enabled": True, "feed_poll_interval_minutes": 30})
    assert await reader.look() == 1
    stage.advance(30 * MINUTE - 1)
    assert await reader.look() == 0
    stage.advance(1)
    assert await reader.look() == 1
    for minutes in (0, -5, "5"):
        await stage.ask("PUT", path, {"feed_poll_interval_minutes": minutes}, 400)
    await stage.ask("PUT", path, {"feed_url": "nowhere"}, 400)


async def test_13_a_feed_is_put_to_rest_and_woken_by_hand(stage: Stage, reader: Reader):
    path = await with_feed(stage)
    await stage.ask("PATCH", f"{path}/feed-disable", {"reason": "gone"})
    assert await reader.look(MISSING) == 0
    stage.advance(72 * HOUR)
    assert await reader.look() == 1, "after its cooldown it gets a trial"
    await stage.ask("PATCH", f"{path}/feed-disable")
    on = await stage.ask("PATCH", f"{path}/feed-enable")
    assert "feed_disabled_at" not in on
    assert await reader.look() == 1, "it is polled at once"
    await stage.ask("PATCH", f"{path}/feed-disable", {"reason": "gone"})
    moved = await stage.ask("PUT", path, {"feed_url": f"{FEED}/new"})
    assert "feed_disabled_at" not in moved, "another URL is another feed"
    await reader.look()
    assert reader.web.asked[-1] == f"{FEED}/new"


HOME = "https://news.example/"


async def test_22_discovery_prefers_the_link_of_the_page(stage: Stage, reader: Reader):
    path = f"{PATH}/{await stage.source()}"
    link = b"<link rel=alternate type='application/%s' href='%s'>"
    reader.web.says[HOME] = Said(body=link % (b"rss+xml", b"/broken") + link % (b"atom+xml", b"/named"))
    reader.web.says["https://news.example/broken"] = Said(body=b"<html>no feed")
    reader.web.says["https://news.example/named"] = rss("/1")
    reader.web.says["https://news.example/feed"] = rss("/2")
    await reader.search()
    assert (await stage.ask("GET", path))["feed_url"] == "https://news.example/named"
    assert FEED not in reader.web.asked, "the usual places are for pages that name none"


async def test_22_discovery_rejects_html_and_tries_the_usual_paths(stage: Stage, reader: Reader):
    path = f"{PATH}/{await stage.source()}"
    reader.web.says[HOME] = Said(body=b"<link rel=alternate type=application/rss+xml href=/broken>")
    reader.web.says["https://news.example/broken"] = Said(body=b"<html>no feed")
    reader.web.says["https://news.example/feed"] = rss()
    reader.web.says["https://news.example/rss.xml"] = rss("https://news.example/1")
    await reader.search()
    found = await stage.ask("GET", path)
    assert found["feed_url"] == "https://news.example/rss.xml", "the first with an entry"
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 1


async def test_22_a_source_without_a_feed_is_searched_once_in_a_week(stage: Stage, reader: Reader):
    path = f"{PATH}/{await stage.source()}"
    await reader.search()
    asked = len(reader.web.asked)
    assert asked == 7, "the page and six usual paths"
    stage.advance(168 * HOUR - 1)
    await reader.search()
    assert len(reader.web.asked) == asked
    stage.advance(1)
    await reader.search()
    assert len(reader.web.asked) == 2 * asked
    assert "feed_url" not in await stage.ask("GET", path)


async def test_13_entries_of_a_sitemap_become_urls_of_the_frontier(stage: Stage, reader: Reader):
    source = await stage.source(sitemap_url="https://news.example/map.xml", ingestion_mode="spider")
    body = "<urlset><url><loc>https://news.example/1</loc></url></urlset>"
    reader.web.says["https://news.example/map.xml"] = Said(body=body.encode())
    mapper = SitemapReader(mapped(reader.web, stage.clock))
    assert await mapper.once() == 0, "the mode spider reads no sitemap"
    await stage.ask("PUT", f"{PATH}/{source}", {"ingestion_mode": "feed"})
    assert await mapper.once() == 1
    await reader.web.answer()
    await mapper.once()
    [found] = (await stage.ask("GET", "/api/v1/frontier?origin=sitemap"))["urls"]
    assert (found["url"], found["priority"], found["source_id"]) == ("https://news.example/1", 6, source)


# -- sources that another service keeps -----------------------------------------------------------------------------


async def add_remote_source(stage: Stage, ref: str, **more: Any) -> None:
    stage.advance(1)
    said = RemoteSource(ref=ref, name=f"name of {ref}", base_url="https://a.example/", crawl='{"rate_limit": "3s"}')
    await stage.platform.records.remote_sources.take([msgspec.structs.replace(said, **more)], stage.clock.now())


async def test_9_sources_of_another_service_are_shown_under_its_ids_and_changed_there(
    records: Records, clock: FakeClock, tmp_path: Path
):
    with running_manager() as manager:
        service = HttpSourceManager(manager.url, token)
        async with opened(records, clock, tmp_path, source_manager=service) as stage:
            own = await stage.source("own")
            feed_url = "https://a.example/feed"
            await add_remote_source(stage, "abc", feed_url=feed_url, enabled=False, disable_reason="why")
            listed = await stage.ask("GET", PATH)
            assert [one["id"] for one in listed["sources"]] == ["abc", own]
            found = await stage.ask("GET", f"{PATH}/abc")
            assert (found["name"], found["rate_limit"], found["enabled"], found["disable_reason"]) == (
                *("name of abc", "3s"),
                *(False, "why"),
            )
            for method, path in (("PUT", ""), ("DELETE", ""), ("PATCH", "/enable"), ("PATCH", "/feed-disable")):
                refused = await stage.ask(method, f"{PATH}/abc{path}", {}, 409)
                assert refused == {"error": "source abc is kept by another service: change it there"}
                await stage.ask(method, f"{PATH}/nobody{path}", {}, 404)
            assert (await stage.ask("PUT", f"{PATH}/abc/budget", {"budget": 9}))["budget"] == 9, (
                "the budget is stored by this platform"
            )
            assert (await stage.ask("PUT", f"{PATH}/{own}", {"rate_limit": "9s"}))["rate_limit"] == "9s"
        await service.close()


async def test_9_sources_that_a_service_kept_are_ours_once_there_is_none(stage: Stage):
    await add_remote_source(stage, "abc")
    assert (await stage.ask("PUT", f"{PATH}/abc", {"rate_limit": "9s"}))["rate_limit"] == "9s"
    await stage.ask("PATCH", f"{PATH}/abc/disable", {"reason": "x"})
    await stage.ask("DELETE", f"{PATH}/abc", expect=204)
    await stage.ask("GET", f"{PATH}/abc", expect=404)


async def test_9_a_job_of_such_a_source_fills_its_index_and_its_links_are_its_own(
    records: Records, clock: FakeClock, tmp_path: Path
):
    with running_manager() as manager:
        manager.add("abc", name="The News", url="https://a.example/", rate_limit=2)
        service = HttpSourceManager(manager.url, token)
        async with opened(records, clock, tmp_path, source_manager=service) as stage:
            job = await stage.job("abc", url="https://a.example/")
            stage.advance(1)
            await stage.run()
            [run] = await stage.runs(job)
            assert run["status"] == "completed"
            row = await records.remote_sources.get("abc")
            assert row is not None
            [made] = await records.runs.find()
            assert (made.source_id, CrawlPlan.read(made.plan).source_name) == (row.id, "The News")
            await records.links.save([NewLink(made.id, "https://elsewhere.example/", "https://a.example/", 1)])
            [link] = (await records.links.find(LinkQuery()))[0]
            assert (link.source, link.source_name) == ("abc", "The News")
        await service.close()


async def test_26_sync_sees_every_source_of_another_service_once(records: Records, clock: FakeClock, tmp_path: Path):
    with running_manager() as manager:
        for number in range(130):
            manager.add(f"s{number}", rate_limit=5 if number else "5s")
        manager.most = 100
        service = HttpSourceManager(manager.url, token)
        async with opened(records, clock, tmp_path, source_manager=service) as stage:
            done = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
            assert (done["sources_seen"], len(done["created"])) == (130, 130)
            again = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
            assert (again["created"], len(again["already_has_job"])) == ([], 130)
            manager.answer_always(
                200, b'{"sources": [{"id": "s1", "name": "s1", "url": "https://a.example/"}], "total": 9}'
            )
            await stage.ask("POST", "/api/v1/admin/sync-enabled-sources", expect=502)
        await service.close()


# -- sources that other APIs use ------------------------------------------------------------------------------------


async def test_a_source_of_another_api_is_shown_and_left_alone(stage: Stage, reader: Reader):
    shop = await stage.platform.records.sources.make(
        NewSource("shop", "https://shop.example/", use=SourceUse.PRODUCTS, feed_url="https://shop.example/feed")
    )
    [shown] = (await stage.ask("GET", PATH))["sources"]
    assert shown["id"] == shop.public_id
    mapper = SitemapReader(mapped(reader.web, stage.clock))
    await stage.ask("PATCH", f"{PATH}/{shop.public_id}/enable")
    await stage.ask("PATCH", f"{PATH}/{shop.public_id}/feed-enable")
    for _ in range(60):
        synced = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
        assert (synced["created"], synced["sources_seen"]) == ([], 0)
        assert await mapper.once() == 0
        assert await reader.look() == 0
        await reader.search()
        assert await stage.scheduler().poll() == 0
        stage.clock.advance(60)
    assert reader.web.asked == []
    assert (await stage.ask("GET", "/api/v1/jobs"))["jobs"] == []


async def test_a_source_of_another_api_gets_a_job_when_it_is_registered_here_too(stage: Stage):
    shop = await stage.platform.records.sources.make(NewSource("shop", "https://shop.example/", use=SourceUse.PRODUCTS))
    made = await stage.ask("POST", PATH, {"name": "shop", "url": "https://shop.example/", "rate_limit": "9s"}, 201)
    assert (made["id"], made["rate_limit"]) == (shop.public_id, "9s")
    assert (await stage.ask("POST", "/api/v1/admin/sync-enabled-sources"))["created"] == [shop.public_id]
    refused = await stage.ask("DELETE", f"{PATH}/{shop.public_id}", expect=409)
    assert refused["error"].startswith("source shop is also used by products: take off its use by interval instead")
    await stage.ask("POST", PATH, {"name": "shop", "url": "https://shop.example/"}, 409)
