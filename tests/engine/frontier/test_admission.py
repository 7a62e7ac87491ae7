import time
from collections import Counter

import pytest

from longline.engine.frontier.admission import Admission, AdmissionCache, seed
from longline.model.frontier.standing_frontier import SCOPE, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import BadUrl
from longline.ports.records.frontier.frontier import HostSetting
from tests.engine.fakes import RUN, claimed
from tests.plans import crawl_plan

PLAN = crawl_plan(("https://a.example/",), max_depth=2, hosts=("a.example",), delay_ms=250, concurrency=3)


def test_links_are_one_step_deeper_and_have_their_parent():
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(9, depth=1, scope=4), ["https://a.example/x#top", "https://a.example/y"], PLAN)
    first, second = admission.tasks
    assert (first.url, second.url) == ("https://a.example/x", "https://a.example/y")
    assert (first.depth, first.parent_id, first.run_id, first.scope) == (2, 9, RUN, 4)
    assert (first.host, first.key) == ("a.example", dedupe_key("https://a.example/x"))
    assert not admission.refused


def test_a_link_may_have_a_priority_of_its_own():
    admission = Admission(AdmissionCache())
    urgency = {"https://a.example/first": -5, "https://a.example/map": 3}
    admission.admit_links(claimed(), ["https://a.example/first", "https://a.example/other"], PLAN, urgency)
    admission.admit_at_same_depth(claimed(), ["https://a.example/map"], PLAN, urgency)
    assert [task.priority for task in admission.tasks] == [
        DEFAULT_PRIORITY - 5,
        DEFAULT_PRIORITY,
        DEFAULT_PRIORITY + 3,
    ]


def test_the_key_of_a_url_of_the_standing_frontier_is_its_url_hash():
    admission = Admission(AdmissionCache())
    admission.admit_redirect(claimed(scope=SCOPE), "https://a.example/x/?utm_source=y", PLAN)
    assert [task.key for task in admission.tasks] == [url_hash("http://a.example/x")]


def test_links_beyond_the_depth_are_refused_and_counted():
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(depth=2), ["https://a.example/x", "https://a.example/y"], PLAN)
    assert (admission.tasks, admission.hosts) == ([], [])
    assert admission.refused == {(RUN, "depth"): 2}


def test_links_refused_by_a_parser_are_counted_by_its_reason_unless_the_bounds_refuse_them_too():
    admission = Admission(AdmissionCache())
    urls = ["https://a.example/page/2", "https://b.example/about", "mailto:me", "https://a.example/page/2"]
    admission.count_unfollowed(claimed(), {"never_follow": urls, "sold_out": ["https://a.example/9"]}, PLAN)
    assert admission.refused == {
        (RUN, "never_follow"): 2,
        (RUN, "offsite"): 1,
        (RUN, "scheme"): 1,
        (RUN, "sold_out"): 1,
    }
    admission = Admission(AdmissionCache())
    admission.count_unfollowed(claimed(depth=2), {"never_follow": urls}, PLAN)
    assert (admission.refused, admission.tasks) == ({(RUN, "depth"): 4}, [])


def test_a_page_without_an_item_is_counted_by_its_reason():
    admission = Admission(AdmissionCache())
    for reason in ("page_type", None, "page_type"):
        admission.count_without_item(claimed(), reason)
    assert admission.without_item == {(RUN, "page_type"): 2}


def test_a_redirect_has_the_same_depth():
    admission = Admission(AdmissionCache())
    admission.admit_redirect(claimed(depth=2), "https://a.example/moved", PLAN)
    assert [task.depth for task in admission.tasks] == [2]


def test_a_listed_url_has_the_same_depth():
    admission = Admission(AdmissionCache())
    admission.admit_at_same_depth(claimed(depth=2), ["https://a.example/listed"], PLAN)
    assert [(task.depth, task.hops) for task in admission.tasks] == [(2, 0)]


def test_other_hosts_are_refused_if_the_plan_names_hosts():
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(), ["https://b.example/", "https://a.example:8080/", "http://a.example/"], PLAN)
    admission.admit_redirect(claimed(), "https://b.example/", PLAN)
    assert [task.url for task in admission.tasks] == ["http://a.example/"]
    assert admission.refused == {(RUN, "offsite"): 3}


def test_any_host_is_admitted_if_the_plan_names_none():
    plan = crawl_plan(("https://a.example/",), delay_ms=250, concurrency=3)
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(), ["https://b.example/", "https://c.example/", "https://b.example/x"], plan)
    assert [task.host for task in admission.tasks] == ["b.example", "c.example", "b.example"]
    assert admission.hosts == [HostSetting("b.example", 250, 3), HostSetting("c.example", 250, 3)]


def test_invalid_urls_are_counted_by_their_reason():
    admission = Admission(AdmissionCache())
    bad = ["mailto:a@b.example", "ftp://a.example/", "https://", "x" * 9000, "https://a.example/\ud800", "/relative"]
    admission.admit_links(claimed(), bad, PLAN)
    assert admission.tasks == []
    assert admission.refused == {(RUN, "scheme"): 2, (RUN, "bad_url"): 3, (RUN, "too_long"): 1}


def test_refusals_are_counted_run_by_run():
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(1, run_id=1, depth=2), ["https://a.example/x"], PLAN)
    admission.admit_links(claimed(2, run_id=2, depth=2), ["https://a.example/x"] * 2, PLAN)
    assert admission.refused == Counter({(1, "depth"): 1, (2, "depth"): 2})


def test_a_seed_starts_the_scope_of_its_run():
    task, host = seed("HTTPS://A.example:443/x?b#c", 5, PLAN)
    assert (task.url, task.host, task.scope, task.run_id) == ("https://a.example/x?b", "a.example", 5, 5)
    assert (task.depth, task.parent_id) == (0, None)
    assert host == HostSetting("a.example", 250, 3)
    with pytest.raises(BadUrl):
        seed("a.example", 5, PLAN)


# -- verdicts ---------------------------------------------------------------------------------------------------

LINKS = ["https://a.example/x", "https://b.example/", "https://a.example/y"]


def test_admitted_links_are_known_and_not_sent_again():
    verdicts = AdmissionCache()
    first = Admission(verdicts)
    first.admit_links(claimed(1), LINKS, PLAN)
    verdicts.mark_known(first.tasks)
    again = Admission(verdicts)
    again.admit_links(claimed(2), [*LINKS, "https://a.example/z"], PLAN)
    assert [task.url for task in again.tasks] == ["https://a.example/z"]
    assert again.refused == {(RUN, "known"): 2, (RUN, "offsite"): 1}


def test_links_without_an_admission_are_sent_again():
    verdicts = AdmissionCache()
    for _ in range(2):
        admission = Admission(verdicts)
        admission.admit_links(claimed(1), LINKS, PLAN)
        assert [task.url for task in admission.tasks] == ["https://a.example/x", "https://a.example/y"]


def test_verdicts_of_another_run_are_independent():
    verdicts = AdmissionCache()
    first = Admission(verdicts)
    first.admit_links(claimed(1, run_id=1), LINKS, PLAN)
    verdicts.mark_known(first.tasks)
    other = Admission(verdicts)
    other.admit_links(claimed(2, run_id=2), LINKS, crawl_plan((), hosts=("b.example",)))
    assert [task.url for task in other.tasks] == ["https://b.example/"]


def test_a_url_is_sent_once_with_each_report():
    admission = Admission(AdmissionCache())
    admission.admit_links(claimed(1), LINKS, PLAN)
    admission.admit_links(claimed(2), LINKS, PLAN)
    assert len(admission.tasks) == 2
    assert admission.refused == {(RUN, "offsite"): 2, (RUN, "known"): 2}


def test_spellings_of_one_url_are_sent_once_with_each_report():
    admission = Admission(AdmissionCache())
    admission.admit_links(
        claimed(1), ["https://a.example/%7Eu", "https://a.example/~u", "https://a.example/%7eu"], PLAN
    )
    assert [task.url for task in admission.tasks] == ["https://a.example/%7Eu"]
    assert admission.refused == {(RUN, "known"): 2}


def test_the_number_of_verdicts_is_bounded():
    verdicts = AdmissionCache(max_verdicts=3)
    taken = Admission(verdicts)
    taken.admit_links(claimed(1), [f"https://a.example/{n}" for n in range(5)], PLAN)
    verdicts.mark_known(taken.tasks)
    again = Admission(verdicts)
    again.admit_links(claimed(2), [f"https://a.example/{n}" for n in range(5)], PLAN)
    assert len(again.tasks) + again.refused[RUN, "known"] == 5
    assert again.refused[RUN, "known"] <= 3


def test_evicting_the_oldest_verdict_has_a_constant_cost():
    bound, part = 50_000, 5_000
    verdicts = AdmissionCache(bound)
    judged = 0

    def judge(count: int) -> float:
        nonlocal judged
        started = time.process_time()
        for number in range(judged, judged + count):
            verdicts.judge(RUN, f"https://a.example/{number}", PLAN)
        judged += count
        return (time.process_time() - started) / count

    judge(bound - part)
    below_the_bound = min(judge(part // 5) for _ in range(5))
    beyond_the_bound = judge(8 * part)
    assert beyond_the_bound < 3 * below_the_bound


def test_evicting_verdicts_of_many_short_runs_has_a_constant_cost():
    bound = 50_000
    verdicts = AdmissionCache(bound)

    def judge(runs: range) -> float:
        started = time.process_time()
        for run_id in runs:
            verdicts.judge(run_id, "https://a.example/", PLAN)
        return (time.process_time() - started) / len(runs)

    judge(range(bound - 5_000))
    below_the_bound = min(judge(range(n, n + 1_000)) for n in range(bound - 5_000, bound, 1_000))
    beyond_the_bound = judge(range(bound, 2 * bound))
    assert beyond_the_bound < 3 * below_the_bound


def test_links_with_a_user_name_or_a_password_are_left_out():
    admission = Admission(AdmissionCache())
    links = ["https://anna:pw@a.example/x", "https://anna@a.example/", "https://a.example/@anna"]
    admission.admit_links(claimed(), links, PLAN)
    assert [task.url for task in admission.tasks] == ["https://a.example/@anna"]
    assert admission.refused == {(RUN, "credentials"): 2}


KEEPING = crawl_plan(("https://a.example/",), max_depth=2, hosts=("a.example",), exclude=("/no",), keep_refused=True)


def stored(admission: Admission) -> list[tuple[str, str, int]]:
    return [(one.reason, one.task.url.rpartition("/")[2], one.task.depth) for one in admission.refused_urls]


def test_refused_links_are_stored_once_unless_a_shallower_link_is_found():
    verdicts, links = AdmissionCache(), ["https://a.example/no", "https://b.example/x", "https://a.example/y"]
    first = Admission(verdicts)
    first.admit_links(claimed(depth=2), links, KEEPING)
    assert stored(first) == [("excluded", "no", 3), ("offsite", "x", 3), ("depth", "y", 3)]
    unwritten = Admission(verdicts)
    unwritten.admit_links(claimed(depth=2), links, KEEPING)
    assert stored(unwritten) == stored(first), "the report of the first was not written"
    verdicts.note_stored(first.refused_urls)
    again = Admission(verdicts)
    again.admit_links(claimed(depth=2), links, KEEPING)
    assert (stored(again), again.refused.total()) == ([], 3)
    shallower = Admission(verdicts)
    shallower.admit_links(claimed(depth=1), links, KEEPING)
    assert stored(shallower) == [("excluded", "no", 2), ("offsite", "x", 2)]
    assert [(task.url, task.keep_refused) for task in shallower.tasks] == [("https://a.example/y", True)]


class Found:
    """Links of a page, of a sitemap or of an index of sitemaps."""

    def __init__(self, *links: str, listing: str = "") -> None:
        self.links: tuple[str, ...] = () if listing == "sitemap" else links
        self.beside: tuple[str, ...] = links if listing == "sitemap" else ()
        self.priorities, self.refused = dict[str, int](), dict[str, tuple[str, ...]]()
        self.cut, self.without_item, self.listing = 0, None, listing


def test_links_outside_sitemaps_are_refused_if_only_sitemaps_count():
    plan = crawl_plan((), max_depth=3, hosts=("a.example",), include=("/blog",), sitemap_only=True, keep_refused=True)
    admission = Admission(AdmissionCache())
    admission.admit_page(claimed(), Found("https://cdn.example/1.xml", listing="index"), plan)
    admission.admit_page(claimed(), Found("https://a.example/blog/1", "https://a.example/x", listing="sitemap"), plan)
    admission.admit_page(claimed(), Found("https://a.example/blog/2", "https://a.example/blog/3"), plan)
    admission.admit_sitemaps(claimed(), ["https://cdn.example/2.xml"], plan)
    assert [task.url for task in admission.tasks] == [
        "https://cdn.example/1.xml",
        "https://a.example/blog/1",
        "https://cdn.example/2.xml",
    ]
    assert admission.refused == {(RUN, "not_included"): 1, (RUN, "unlisted"): 2}
