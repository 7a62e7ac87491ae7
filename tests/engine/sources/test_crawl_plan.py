"""Plans of crawls, made from sources."""

from typing import Any

import msgspec
import pytest

from longline.engine.frontier.standing_runs import StandingRules, standing_plan
from longline.engine.sources.crawl_plan import CrawlRules, described, is_binary, plan_of
from longline.model.errors import BadInput
from longline.model.sources.source import CrawlSource
from longline.plugins.registry import Registry

RULES = CrawlRules()
PARSERS = Registry()
NEWS = CrawlSource(ref="1", name="news", url="https://www.news.example/start")


def test_a_plan_begins_at_the_start_page_of_the_source_and_stays_on_its_site():
    plan = plan_of(NEWS, "https://news.example/other", RULES, PARSERS)
    assert (plan.seeds, plan.bounds.hosts) == (
        ("https://www.news.example/start",),
        ("news.example", "www.news.example"),
    )
    assert (plan.bounds.max_depth, plan.politeness.delay_ms, plan.politeness.concurrency, plan.politeness.robots) == (
        2,
        2000,
        2,
        True,
    )
    assert (plan.politeness.jitter_ms, plan.retries.delay_seconds, plan.fetch.content_types) == (
        1000,
        2.0,
        ("text/html", "application/xhtml+xml"),
    )
    assert set(plan.retries.final) == {"connect_timeout", "idle_timeout", "total_timeout"}, (
        "a request to a slow site is not repeated"
    )


def test_a_schedule_for_another_site_begins_there():
    plan = plan_of(NEWS, "https://found.example/x", CrawlRules(robots=False), PARSERS)
    assert (plan.seeds, plan.bounds.hosts) == (("https://found.example/x",), ("found.example", "www.found.example"))
    assert plan.politeness.robots is False


@pytest.mark.parametrize(("said", "meant"), [(0, 2), (1, 0), (3, 2), (7, 6), (-1, 1_000_000)])
def test_depth_counts_the_start_page(said: int, meant: int):
    assert plan_of(msgspec.structs.replace(NEWS, max_depth=said), NEWS.url, RULES, PARSERS).bounds.max_depth == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *[(None, 2000), ("", 2000), ("banana", 2000), ("-5", 2000), (-5, 2000), ("-5s", 2000), ("1 week", 2000)],
        *[("10s", 10_000), ("1m", 60_000), ("10", 10_000), (10, 10_000), ("0.5", 500), (0.5, 500), ("500ms", 500)],
        *[("25h", 86_400_000), (10**18, 86_400_000), ("9" * 60, 86_400_000), ("9" * 400, 2000)],
    ],
)
def test_the_rate_limit_is_the_delay_and_the_default_is_that_of_the_settings(said: Any, meant: int):
    source = described({"id": "1", "name": "n", "url": NEWS.url, "rate_limit": said})
    plan = plan_of(source, NEWS.url, RULES, PARSERS)
    assert (plan.politeness.delay_ms, plan.politeness.jitter_ms, plan.politeness.concurrency) == (meant, meant // 2, 2)
    patient = plan_of(source, NEWS.url, CrawlRules(delay_ms=7000), PARSERS).politeness.delay_ms
    assert patient == (7000 if meant == 2000 else meant)
    single = standing_plan(source, StandingRules(delay_ms=900), PARSERS)
    assert (single.politeness.delay_ms, single.politeness.jitter_ms) == (900 if meant == 2000 else meant, 0)


def test_temporary_failures_are_retried_after_a_constant_time():
    plan = plan_of(NEWS, NEWS.url, RULES, PARSERS)
    assert (plan.retries.max_attempts, plan.retries.delay_seconds, plan.retries.max_delay_seconds) == (3, 2.0, 2.0)


def test_patterns_of_the_source_are_added():
    source = msgspec.structs.replace(NEWS, allow=("/a/",), disallow=("/a/b",))
    plan = plan_of(source, NEWS.url, RULES, PARSERS)
    assert (plan.bounds.include, plan.bounds.exclude) == (("/a/",), ("/a/b",))


def test_an_invalid_start_page_is_refused():
    with pytest.raises(BadInput):
        plan_of(msgspec.structs.replace(NEWS, url="nowhere"), "https://a.example/", RULES, PARSERS)


def test_the_settings_replace_the_values_of_the_source():
    rules = CrawlRules(max_redirects=1, max_attempts=9, user_agents=("a", "b"))
    plan = plan_of(NEWS, NEWS.url, rules, PARSERS)
    assert (plan.fetch.max_redirects, plan.retries.max_attempts, plan.fetch.user_agents) == (1, 9, ("a", "b"))


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
        assert plan_of(NEWS, NEWS.url, rules, PARSERS)
        return
    with pytest.raises(BadInput, match="forbidden domain"):
        plan_of(NEWS, NEWS.url, rules, PARSERS)


@pytest.mark.parametrize(("rate_limit", "jitter"), [("10s", 5000), ("3", 1500), ("", 700), ("often", 700)])
def test_the_jitter_is_half_the_delay_or_that_of_the_settings(rate_limit: str, jitter: int):
    source = CrawlSource(ref="1", name="n", url="https://a.example/", rate_limit=rate_limit)
    assert plan_of(source, source.url, CrawlRules(jitter_ms=700), PARSERS).politeness.jitter_ms == jitter


def test_a_plan_has_values_of_the_settings_and_of_the_source():
    plan = plan_of(
        msgspec.structs.replace(NEWS, dynamic=True), NEWS.url, CrawlRules(max_url=99, retry_seconds=0.5), PARSERS
    )
    assert (plan.fetch.render, plan.bounds.max_url_chars, plan.retries.delay_seconds) == (True, 99, 0.5)
    assert plan_of(NEWS, NEWS.url, RULES, PARSERS).fetch.render is False
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
def test_files_are_detected_by_their_urls(path: str, binary: bool):
    assert is_binary(f"https://news.example/{path}") is binary


def test_the_plans_of_a_source_have_its_pools():
    pooled = msgspec.structs.replace(NEWS, proxy_pools=("homes", "cheap", "any"), user_agent="shop/1")
    for plan in (plan_of(pooled, NEWS.url, RULES, PARSERS), standing_plan(pooled, StandingRules(), PARSERS)):
        assert (plan.fetch.proxying.pool, plan.fetch.proxying.fallbacks) == ("homes", ("cheap", "any"))
        assert plan.fetch.user_agents == ("shop/1",)
    assert plan_of(NEWS, NEWS.url, RULES, PARSERS).fetch.proxying.pool is None
