"""A plan survives being stored."""

import msgspec
import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from tests.plans import crawl_plan


def test_what_is_read_is_what_was_written():
    plan = crawl_plan(("https://example.com/ü",), max_depth=7, hosts=("example.com",), robots=False, delay_ms=5)
    assert CrawlPlan.read(plan.text()) == plan


def test_a_plan_of_an_older_version_reads_with_defaults():
    assert CrawlPlan.read('{"seeds":["https://example.com/"]}') == CrawlPlan(("https://example.com/",))


def test_the_same_plan_has_the_same_text():
    assert crawl_plan(("a",), robots=True).text() == CrawlPlan(("a",)).text()


def test_what_parsers_are_told():
    assert CrawlPlan(("a",)).config == {}
    plan = crawl_plan(("a",), config='{"parser": "article", "selectors": {"article": {"title": "h1"}}}')
    assert plan.config["parser"] == "article"
    assert CrawlPlan.read(plan.text()).config == plan.config
    assert hash(plan)


def test_what_was_found_is_not_told_as_asked_for_by_name():
    plan = crawl_plan((), config='{"by_name":true,"parser":"article"}')
    assert dict(plan.config_at(0)) == {"by_name": True, "parser": "article"}
    assert dict(plan.config_at(2)) == {"parser": "article"}
    assert dict(crawl_plan((), config='{"parser":"article"}').config_at(0)) == {"parser": "article"}


def test_a_plan_of_another_form_is_refused():
    """Without its bounds a crawl would reach any host."""
    with pytest.raises(msgspec.ValidationError, match="max_depth"):
        CrawlPlan.read('{"seeds": ["https://a.example/"], "max_depth": 2}')
