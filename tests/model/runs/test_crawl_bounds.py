"""URLs that belong to a run."""

import pytest

from longline.model.runs.crawl_bounds import Bounds, bounds_of, is_trap
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.url import parse
from tests.plans import crawl_plan

SEED = ("https://example.com/",)


def refusal(plan: CrawlPlan, url: str) -> str | None:
    return Bounds(plan.bounds).refusal(parse(url))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/a", None),
        ("http://example.com/a", None),
        ("https://example.com:8443/a", "offsite"),
        ("https://www.example.com/a", "offsite"),
        ("https://news.example.org/a", None),
        ("https://example.org/a", None),
        ("https://notexample.org/a", "offsite"),
        ("https://example.org.evil.test/a", "offsite"),
        ("https://EXAMPLE.ORG/a", None),
    ],
)
def test_hosts_are_exact_and_domains_include_their_subdomains(url: str, reason: str | None):
    plan = crawl_plan(SEED, hosts=("example.com",), domains=(".Example.org",))
    assert refusal(plan, url) == reason


def test_without_hosts_and_domains_any_host_belongs():
    assert refusal(CrawlPlan(SEED), "https://elsewhere.test/") is None


def test_patterns_are_searched_and_exclusion_wins():
    plan = crawl_plan(SEED, include=(r"/news/", r"\.html$"), exclude=(r"[?&]print=1",))
    assert refusal(plan, "https://a.test/news/1") is None
    assert refusal(plan, "https://a.test/x.html") is None
    assert refusal(plan, "https://a.test/x.htm") == "not_included"
    assert refusal(plan, "https://a.test/news/1?print=1") == "excluded"


def test_a_stored_pattern_that_cannot_be_used_matches_nothing_and_stops_nothing():
    plan = crawl_plan(SEED, include=("(", "/news/"), exclude=("(?=a)", "/old/"), never=("[",))
    assert refusal(plan, "https://a.test/news/1") is None
    assert refusal(plan, "https://a.test/news/old/") == "excluded"
    assert refusal(plan, "https://a.test/x") == "not_included"
    assert refusal(crawl_plan(SEED, include=("(",)), "https://a.test/x") == "not_included"
    assert not Bounds(plan.bounds).forbids("https://a.test/x")


def test_a_pattern_that_would_backtrack_without_end_is_searched_at_once():
    plan = crawl_plan(SEED, exclude=("(a+)+$",), include=("(b|bb)+$", "/"), never=("(c*)*$d",))
    assert refusal(plan, f"https://a.test/{'a' * 60}!") is None
    assert not Bounds(plan.bounds).forbids(f"https://a.test/{'c' * 60}!")


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/", False),
        ("/a/b/c/d/e/f/g", False),
        ("/2024/01/02/2024/01/02/", False),
        ("/" + "/".join(f"s{n}" for n in range(32)), False),
        ("/" + "/".join(f"s{n}" for n in range(33)), True),
        ("/a" * 4, False),
        ("/a" * 5, True),
        ("/a/b" * 5 + "/end.html", True),
        ("/x?" + "&".join(f"p{n}=1" for n in range(32)), False),
        ("/x?" + "&".join(f"p{n}=1" for n in range(33)), True),
        ("/x?" + "/a" * 50, False),
    ],
)
def test_urls_of_endless_sites_are_recognized(path: str, trap: bool):
    assert is_trap(f"https://example.com{path}") is trap


def test_a_url_of_an_endless_site_is_refused():
    assert refusal(CrawlPlan(SEED), "https://example.com" + "/a" * 5) == "trap"


def test_bounds_are_compiled_once():
    plan = crawl_plan(SEED, include=("x",))
    assert bounds_of(plan.bounds) is bounds_of(crawl_plan(SEED, include=("x",)).bounds)


def test_a_url_may_have_as_many_characters_as_the_limit():
    url = "https://example.com/12345"
    assert refusal(crawl_plan(SEED, max_url_chars=len(url)), url) is None
    assert refusal(crawl_plan(SEED, max_url_chars=len(url) - 1), url) == "too_long"
    assert refusal(crawl_plan(SEED, max_url_chars=1, hosts=("other.example",)), url) == "offsite"
    assert refusal(CrawlPlan(SEED), url + "5" * 1000) is None
