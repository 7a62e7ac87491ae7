"""Hints about links that a bound left out: a sentence with the option that takes them up."""

from longline.cli.hints.links_left_out import bound_hints, refused_links
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import Fate
from tests.cli.commands.test_crawl import a_run
from tests.plans import crawl_plan


def test_each_bound_that_left_links_out_has_its_hint():
    run = a_run(plan=crawl_plan((), max_depth=4).text(), budget=7)
    found = bound_hints(run, {"depth": 1, "offsite": 2, "not_included": 3, "excluded": 4, "budget": 5})
    assert [hint.partition(";")[0] for hint in found] == [
        "1 link was beyond --depth 4",
        "2 links were to other hosts",
        "3 links were in no --include",
        "4 links were in an --exclude",
        "5 links were beyond --limit 7",
    ]
    assert bound_hints(run, {}) == []


def test_stored_links_count_as_often_as_they_are_still_left_out():
    fates = [Fate("completed", "ok", 9), Fate("refused", "depth", 81), Fate("refused", "known", 7)]
    keeping = a_run(plan=crawl_plan((), keep_refused=True).text())
    assert refused_links(keeping, fates, {"depth": 3}) == {"depth": 3, "known": 7}
    assert refused_links(keeping, fates, {}) == {"known": 7}
    assert refused_links(a_run(plan=CrawlPlan(()).text()), fates, {}) == {"depth": 81, "known": 7}


def test_links_that_are_only_counted_are_told_with_the_remedy():
    assert bound_hints(a_run(), {}, 3) == [
        "3 further links were left out and not stored, as a crawl stores 200,000; "
        "wider bounds follow them only in a new crawl: --again"
    ]
