"""The stored form of a plan."""

import msgspec
import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from tests.plans import crawl_plan


def test_a_stored_plan_is_read_back_unchanged():
    plan = crawl_plan(("https://example.com/ü",), max_depth=7, hosts=("example.com",), robots=False, delay_ms=5)
    assert CrawlPlan.read(plan.text()) == plan


def test_a_plan_of_an_older_version_reads_with_defaults():
    assert CrawlPlan.read('{"seeds":["https://example.com/"]}') == CrawlPlan(("https://example.com/",))


def test_the_same_plan_has_the_same_text():
    assert crawl_plan(("a",), robots=True).text() == CrawlPlan(("a",)).text()


def test_the_config_of_a_plan_is_stored_for_parsers():
    assert CrawlPlan(("a",)).config == {}
    plan = crawl_plan(("a",), config='{"parser": "article", "selectors": {"article": {"title": "h1"}}}')
    assert plan.config["parser"] == "article"
    assert CrawlPlan.read(plan.text()).config == plan.config
    assert hash(plan)


def test_a_found_page_is_not_marked_as_requested_by_name():
    plan = crawl_plan((), config='{"by_name":true,"parser":"article"}')
    assert dict(plan.config_at(0)) == {"by_name": True, "parser": "article"}
    assert dict(plan.config_at(2)) == {"parser": "article"}
    assert dict(crawl_plan((), config='{"parser":"article"}').config_at(0)) == {"parser": "article"}


def test_a_plan_of_another_form_is_refused():
    """A plan of another form must be refused: without its bounds a crawl would reach any host."""
    with pytest.raises(msgspec.ValidationError, match="max_depth"):
        CrawlPlan.read('{"seeds": ["https://a.example/"], "max_depth": 2}')
