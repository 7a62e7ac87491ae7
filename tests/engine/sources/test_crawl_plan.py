"""Sources as crawls need them, and the plans made of them."""

import logging
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import pytest

from longline.drivers.sources.source_manager import HttpSourceManager
from longline.engine.frontier.standing_runs import StandingRules, standing_plan
from longline.engine.sources.crawl_plan import NEVER, CrawlRules, described, is_binary, plan_of
from longline.engine.sources.lookup import AWAY_SECONDS, LAST_SAID, CachedSources, LocalSources, RemoteSources
from longline.model.errors import BadInput, Unavailable
from longline.model.runs.bounds import bounds_of
from longline.model.sources.source import CrawlSource, NewSource
from longline.model.url import parse
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.servers.curator import SourceManager, running_manager, token

RULES = CrawlRules()
NEWS = CrawlSource(ref="1", name="news", url="https://www.news.example/start")


def test_a_plan_begins_at_the_sources_start_page_and_stays_on_its_site():
    plan = plan_of(NEWS, "https://news.example/other", RULES)
    assert (plan.seeds, plan.hosts) == (("https://www.news.example/start",), ("news.example", "www.news.example"))
    assert (plan.max_depth, plan.delay_ms, plan.concurrency, plan.robots) == (2, 2000, 2, True)
    assert (plan.jitter_ms, plan.retry_seconds, plan.content_types) == (
        1000,
        2.0,
        ("text/html", "application/xhtml+xml"),
    )
    assert set(plan.final) == {"connect_timeout", "idle_timeout", "total_timeout"}, "a slow site is not asked again"


def test_a_schedule_for_another_site_begins_there():
    plan = plan_of(NEWS, "https://found.example/x", CrawlRules(robots=False))
    assert (plan.seeds, plan.hosts) == (("https://found.example/x",), ("found.example", "www.found.example"))
    assert plan.robots is False


@pytest.mark.parametrize(("said", "meant"), [(0, 2), (1, 0), (3, 2), (7, 6), (-1, 1_000_000)])
def test_depth_counts_the_start_page(said: int, meant: int):
    assert plan_of(msgspec.structs.replace(NEWS, max_depth=said), NEWS.url, RULES).max_depth == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *[(None, 2000), ("", 2000), ("banana", 2000), ("-5", 2000), (-5, 2000), ("-5s", 2000), ("1 week", 2000)],
        *[("10s", 10_000), ("1m", 60_000), ("10", 10_000), (10, 10_000), ("0.5", 500), (0.5, 500), ("500ms", 500)],
        *[("25h", 86_400_000), (10**18, 86_400_000), ("9" * 60, 86_400_000), ("9" * 400, 2000)],
    ],
)
def test_a_rate_limit_is_a_pause_and_without_one_the_operators_goes(said: Any, meant: int):
    source = described({"id": "1", "name": "n", "url": NEWS.url, "rate_limit": said})
    plan = plan_of(source, NEWS.url, RULES)
    assert (plan.delay_ms, plan.jitter_ms, plan.concurrency) == (meant, meant // 2, 2)
    patient = plan_of(source, NEWS.url, CrawlRules(delay_ms=7000)).delay_ms
    assert patient == (7000 if meant == 2000 else meant)
    single = standing_plan(source, StandingRules(delay_ms=900))
    assert (single.delay_ms, single.jitter_ms) == (900 if meant == 2000 else meant, 0)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/2024/05/a-long-story-about-fish", True),
        ("/", True),
        ("/story.html", True),
        ("/loginfo/x", True),
        ("/a.pdf", False),
        ("/a.JPG", False),
        ("/img.png?x=1", False),
        ("/static/x", False),
        ("/wp-content/uploads/x", False),
        ("/assets/x", False),
        ("/news/tag/fish", False),
        ("/search?q=1", False),
        ("/shop", False),
        ("/feed/", False),
        ("/About", False),
        ("/Static/x", False),
    ],
)
def test_pages_without_anything_to_read_are_never_fetched(path: str, wanted: bool):
    bounds = bounds_of(plan_of(NEWS, NEWS.url, RULES))
    assert (bounds.refusal(parse(f"https://news.example{path}")) is None) is wanted


def test_failures_that_may_pass_are_tried_again_after_the_same_time():
    plan = plan_of(NEWS, NEWS.url, RULES)
    assert (plan.max_attempts, plan.retry_seconds, plan.retry_most) == (3, 2.0, 2.0)


def test_a_sites_own_rules_are_added():
    source = msgspec.structs.replace(NEWS, allow=("/a/",), disallow=("/a/b",))
    plan = plan_of(source, NEWS.url, RULES)
    assert (plan.include, plan.exclude) == (("/a/",), (*NEVER, "/a/b"))
    assert all(re.compile(pattern) for pattern in plan.exclude)


def test_a_start_page_that_is_none_is_refused():
    with pytest.raises(BadInput):
        plan_of(msgspec.structs.replace(NEWS, url="nowhere"), "https://a.example/", RULES)


def test_the_operators_word_is_above_the_sources():
    rules = CrawlRules(max_redirects=1, max_attempts=9, user_agents=("a", "b"))
    plan = plan_of(NEWS, NEWS.url, rules)
    assert (plan.max_redirects, plan.max_attempts, plan.user_agents) == (1, 9, ("a", "b"))


@pytest.mark.parametrize(
    ("allowed", "disallowed", "refused"),
    [
        ((), (), False),
        (("*",), (), False),
        (("news.example",), (), False),
        (("other.example",), (), True),
        ((), ("news.example",), True),
        ((), ("example",), True),
        ((), ("ews.example",), False),
    ],
)
def test_forbidden_domains_fail_a_run_before_it_begins(
    allowed: tuple[str, ...], disallowed: tuple[str, ...], refused: bool
):
    rules = CrawlRules(allowed=allowed, disallowed=disallowed)
    if not refused:
        assert plan_of(NEWS, NEWS.url, rules)
        return
    with pytest.raises(BadInput, match="forbidden domain"):
        plan_of(NEWS, NEWS.url, rules)


async def test_our_own_table(records: Records):
    crawl = {"rate_limit": 5, "max_depth": 2, "priority": "high", "rules": {"allow": ["("], "disallow": ["/x"]}}
    row = await records.sources.add(NewSource("n", "https://n.example/", crawl=msgspec.json.encode(crawl).decode()))
    directory = LocalSources(records.sources)
    found = CrawlSource(
        ref=row.called,
        name="n",
        url="https://n.example/",
        id=row.id,
        rate_limit="5",
        max_depth=2,
        priority="high",
        disallow=("/x",),
    )
    assert await directory.get(row.called) == found
    assert [await directory.get(ref) for ref in ("", "uuid", "9" * 40, "1")] == [None] * 4
    assert await directory.all() == [found]
    assert [await directory.called(number) for number in (row.id, 7)] == [row.called, "7"]


async def test_our_own_table_is_read_to_its_end(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longline.engine.sources.lookup.PAGE", 2)
    for number in range(5):
        await records.sources.add(NewSource(f"s{number}", "https://s.example/"))
    assert [one.name for one in await LocalSources(records.sources).all()] == [f"s{number}" for number in range(5)]


@pytest.fixture
def manager() -> Iterator[SourceManager]:
    with running_manager() as manager:
        yield manager


@pytest.fixture
async def elsewhere(records: Records, manager: SourceManager, clock: FakeClock) -> AsyncIterator[RemoteSources]:
    """A directory of another service's sources; time goes on while it is asked."""
    service = HttpSourceManager(manager.url, token)

    async def now() -> int:
        clock.advance(1)
        return clock.now()

    yield RemoteSources(service, records.curated, LocalSources(records.sources), now)
    await service.close()


async def test_a_source_of_another_service_is_known_here_under_its_own_id(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc", name="n", url="https://n.example/", rate_limit=10, enabled=False, selectors={}, max_depth=0)
    found = await elsewhere.get("abc")
    assert found is not None
    assert found == CrawlSource(
        ref="abc", id=found.id, name="n", url="https://n.example/", rate_limit="10", enabled=False
    )
    row = await records.sources.called("abc")
    assert row is not None
    assert (row.id, row.name) == (found.id, "n")
    assert await elsewhere.called(row.id) == "abc"
    assert await elsewhere.get("gone") is None


async def test_what_it_says_is_read_anew_each_time(manager: SourceManager, elsewhere: RemoteSources):
    manager.add("abc", render_mode="static")
    before = await elsewhere.get("abc")
    manager.sources["abc"] |= {"render_mode": "dynamic", "rate_limit": "9s", "name": "other"}
    after = await elsewhere.get("abc")
    assert before is not None
    assert after is not None
    assert (before.dynamic, after.dynamic, after.rate_limit, after.name) == (False, True, "9s", "other")
    assert before.id == after.id


async def test_while_it_is_away_its_sources_are_as_they_were(
    manager: SourceManager, elsewhere: RemoteSources, clock: FakeClock, caplog: pytest.LogCaptureFixture
):
    manager.add("abc")
    before = await elsewhere.get("abc")
    for status, said in ((500, b"{}"), (401, b"{}"), (200, b"<html>"), (200, b"[]"), (302, b"")):
        manager.answer_always(status, said)
        manager.calls.clear()
        for _ in range(3):
            assert await elsewhere.get("abc") == before
        assert len(manager.calls) == 1, "who is away is not waited for again and again"
        for ask in (elsewhere.get("new"), elsewhere.all()):
            with pytest.raises(Unavailable):
                await ask
        clock.advance(AWAY_SECONDS)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == [LAST_SAID], "said once"
    manager.trouble = lambda _: None
    del manager.sources["abc"]
    assert await elsewhere.get("abc") is None, "what it no longer has is not what it cannot tell"


async def test_a_source_of_another_door_is_found_beside_those_of_the_service(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc")
    own = await records.sources.add(NewSource("own", "https://own.example/"))
    found = await elsewhere.get(own.called)
    assert found is not None
    assert (found.name, found.id) == ("own", own.id)
    assert [source.ref for source in await elsewhere.all()] == ["abc"]


async def test_near_at_hand_only_what_is_not_known_is_asked_for(
    records: Records, manager: SourceManager, elsewhere: RemoteSources
):
    manager.add("abc", rate_limit="3s")
    near = CachedSources(LocalSources(records.sources), elsewhere)
    found = [await near.get("abc") for _ in range(3)]
    assert [source.rate_limit for source in found if source] == ["3s"] * 3
    assert len(manager.calls) == 1
    assert await near.called(found[0].id or 0 if found[0] else 0) == "abc"
    assert [source.ref for source in await near.all()] == ["abc"]
    assert await near.get("gone") is None


async def test_all_its_sources_are_listed(manager: SourceManager, elsewhere: RemoteSources):
    for number in range(1203):
        manager.add(f"s{number:04}")
    assert [source.ref for source in await elsewhere.all()] == list(manager.sources)
    assert [call.query["limit"] for call in manager.calls] == ["500"] * 3


async def test_a_source_that_cannot_be_made_out_is_told_as_it_is(manager: SourceManager, elsewhere: RemoteSources):
    manager.add("abc", url="nowhere")
    found = await elsewhere.get("abc")
    assert found is not None
    assert (found.url, found.id) == ("nowhere", None)


@pytest.mark.parametrize(("rate_limit", "jitter"), [("10s", 5000), ("3", 1500), ("", 700), ("often", 700)])
def test_a_pause_is_up_to_half_as_long_again_or_as_the_operator_says(rate_limit: str, jitter: int):
    source = CrawlSource(ref="1", name="n", url="https://a.example/", rate_limit=rate_limit)
    assert plan_of(source, source.url, CrawlRules(jitter_ms=700)).jitter_ms == jitter


def test_a_plan_says_what_the_operator_and_the_source_say():
    plan = plan_of(msgspec.structs.replace(NEWS, dynamic=True), NEWS.url, CrawlRules(max_url=99, retry_seconds=0.5))
    assert (plan.render, plan.max_url, plan.retry_seconds) == (True, 99, 0.5)
    assert plan_of(NEWS, NEWS.url, RULES).render is False
    assert described({"id": "x", "url": NEWS.url, "render_mode": "dynamic"}).dynamic
    assert not described({"id": "x", "url": NEWS.url, "render_mode": "static"}).dynamic


@pytest.mark.parametrize(
    ("path", "binary"),
    [
        ("a.pdf", True),
        ("a.PDF?x=1", True),
        ("download.php?id=1", True),
        ("page", False),
        ("pdf", False),
        ("?f=a.pdf", False),
    ],
)
def test_files_are_known_by_their_addresses(path: str, binary: bool):
    assert is_binary(f"https://news.example/{path}") is binary
