"""A crawl goes on with a larger bound, on both engines, also after it died while it was widened."""

import pytest

from longline.engine.lifecycle.moves import Lifecycle
from longline.model.fetch.cookies import Cookie
from longline.model.fetch.credentials import Credentials
from longline.model.frontier.task import NewTask, RefusedUrl
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import parse
from longline.ports.records import Records
from longline.services.crawls.crawl_options import CrawlRequest
from longline.services.crawls.crawls import Crawls, OpenedRun
from tests.drivers.records.world import claim, host_report, report
from tests.plans import changed, crawl_plan, crawl_stores

HOME = "https://a.example/"
PLAN = crawl_plan((HOME,), max_depth=1, hosts=("a.example", "www.a.example"), exclude=("secret",), keep_refused=True)
ME, TTL = 1, 30_000


@pytest.fixture
def crawls(records: Records) -> Crawls:
    return Crawls(Lifecycle(records), crawl_stores(records))


def refused(run_id: int, reason: str, path: str, depth: int) -> RefusedUrl:
    url = parse(path if "://" in path else f"{HOME}{path}")
    return RefusedUrl(reason, NewTask(url.href, url.host, dedupe_key(url.href), run_id, run_id, depth))


async def first_run(crawls: Crawls, records: Records, request: CrawlRequest | None = None) -> OpenedRun:
    """Run a crawl of one page to its end, with links that its bounds refused."""
    opened = await crawls.open(request or CrawlRequest(PLAN), ME, TTL)
    run_id = opened.run.id
    links = [
        *(refused(run_id, "depth", f"deep/{n}", 2) for n in range(5)),
        refused(run_id, "depth", "deeper", 3),
        refused(run_id, "excluded", "secret", 1),
        refused(run_id, "offsite", "https://b.example/", 1),
    ]
    await report(records, host_report((await claim(records))["a.example"]), refused_urls=links)
    assert (await crawls.get(run_id)).state == "completed"
    return opened


async def open_urls(records: Records, run_id: int) -> set[str]:
    return {t.url.removeprefix(HOME) for t in await records.tasks.find(run_id=run_id) if t.state == "pending"}


async def test_a_larger_depth_admits_the_links_within_it(crawls: Crawls, records: Records):
    first = await first_run(crawls, records)
    assert (await crawls.open(CrawlRequest(PLAN), ME, TTL)).token is None
    wider = CrawlRequest(changed(PLAN, max_depth=2), given=frozenset({"depth"}))
    opened = await crawls.open(wider, ME, TTL)
    assert (opened.run.id, opened.resumed, opened.taken_up, opened.run.state) == (first.run.id, True, 5, "running")
    assert (opened.token is not None, opened.run.open, opened.run.owner) == (True, 5, ME)
    assert await open_urls(records, first.run.id) == {f"deep/{n}" for n in range(5)}
    assert CrawlPlan.read(opened.run.plan) == changed(PLAN, max_depth=2)
    assert await crawls.refused(first.run.id) == {"depth": 1, "excluded": 1, "offsite": 1}


async def test_bounds_that_admit_nothing_more_leave_the_crawl_unchanged(crawls: Crawls, records: Records):
    first = await first_run(crawls, records)
    opened = await crawls.open(CrawlRequest(changed(PLAN, include=("/x",)), given=frozenset({"include"})), ME, TTL)
    assert (opened.token, opened.taken_up, opened.run.state) == (None, 0, "completed")
    assert await crawls.refused(first.run.id) == {"not_included": 6, "excluded": 1, "offsite": 1}


async def test_the_budget_limits_the_admission_of_refused_links(crawls: Crawls, records: Records):
    first = await first_run(crawls, records)
    given = frozenset({"depth", "limit"})
    opened = await crawls.open(CrawlRequest(changed(PLAN, max_depth=9), 4, given=given), ME, TTL)
    assert (opened.taken_up, opened.run.admitted, opened.run.budget) == (3, 4, 4)
    assert await crawls.refused(first.run.id) == {"budget": 3, "excluded": 1, "offsite": 1}
    await crawls.release(opened)
    more = await crawls.open(CrawlRequest(PLAN, 100, given=frozenset({"limit"})), ME, TTL)
    assert (more.run.id, more.taken_up, more.run.admitted) == (first.run.id, 3, 7)


async def test_a_new_seed_is_admitted_to_the_crawl(crawls: Crawls, records: Records):
    first = await first_run(crawls, records)
    more = changed(PLAN, seeds=(HOME, "https://c.example/x"))
    opened = await crawls.open(CrawlRequest(more), ME, TTL)
    assert (opened.run.id, opened.taken_up, opened.run.open) == (first.run.id, 0, 1)
    assert "c.example" in CrawlPlan.read(opened.run.plan).bounds.hosts


@pytest.mark.parametrize("died_after", ["plan", "some"])
async def test_a_crawl_that_died_while_it_was_widened_is_widened_to_the_end(
    crawls: Crawls, records: Records, died_after: str
):
    first = await first_run(crawls, records)
    run_id, plan = first.run.id, changed(PLAN, max_depth=2, seeds=(HOME, f"{HOME}new"))
    await records.runs.revise(run_id, changed(plan, widened=True).text(), None)
    if died_after == "some":
        some = [one.task for one in await records.refused_urls.find(run_id, 2, b"", 2)]
        await Lifecycle(records).runs.extend(run_id, some, [])
    opened = await crawls.open(CrawlRequest(PLAN), ME, TTL)
    assert opened.run.state == "running"
    assert await open_urls(records, run_id) == {*(f"deep/{n}" for n in range(5)), "new"}
    assert not CrawlPlan.read(opened.run.plan).widened


async def test_many_seeds_are_all_admitted_even_after_a_kill_among_them(crawls: Crawls, records: Records):
    seeds = tuple(f"{HOME}{n}" for n in range(4500))
    plan = changed(PLAN, seeds=seeds)
    stored = CrawlRequest(plan)
    opened = await crawls.open(stored, ME, TTL)
    assert opened.run.admitted == 4500
    await crawls.release(opened)
    again = await crawls.open(stored, ME, TTL)
    assert (again.run.admitted, again.taken_up, await records.runs.fates(again.run.id)) == (4500, 0, [])


async def test_headers_and_cookies_are_stored_locked_and_kept(crawls: Crawls, records: Records):
    secret = Credentials((("X-Key", "canary"),), (Cookie("a", "canary", "a.example"),))
    given = frozenset({"headers", "cookies"})
    first = await first_run(crawls, records, CrawlRequest(PLAN, credentials=secret, given=given))
    stored = CrawlPlan.read(first.run.plan)
    assert stored.fetch.credentials
    assert "canary" not in first.run.plan
    unlock = crawl_stores(records).vault.unlock
    assert Credentials.read(unlock(stored.fetch.credentials)) == secret
    again = await crawls.open(CrawlRequest(PLAN, again=True), ME, TTL)
    assert again.run.id != first.run.id
    assert Credentials.read(unlock(CrawlPlan.read(again.run.plan).fetch.credentials)) == secret
