import pytest
from msgspec import structs

from longline.engine.archive.page_records import keep_page
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.model.frontier.retries import MAX_CLAIMS
from longline.model.frontier.task import KnownPage, TaskRedirect
from longline.model.urls.normalization import dedupe_key
from longline.plugins import Item, Page, parser
from longline.ports.records.frontier.frontier import HostSetting
from longline.testing.clock import FakeClock
from tests.engine.fakes import HOST, OWNER, RUN, claimed, part, response
from tests.engine.worker.test_worker import Shop, shop, url
from tests.plans import crawl_plan

__all__ = ["shop"]  # a fixture


async def test_a_page_that_kills_its_workers_fails_without_another_request(shop: Shop):
    shop.frontier.add(claimed(1))
    shop.frontier.lines[1].claims[1] = MAX_CLAIMS
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    assert shop.frontier.ended == {1: "worker_lost"}
    assert shop.http.sent == []


class Before:
    """A page of an earlier run, in the archive."""

    def __init__(self, shop: Shop, body: bytes) -> None:
        self._shop, self._body = shop, body

    async def keep(self) -> KnownPage:
        answer = response(url(1), body=self._body, headers=(("Content-Type", "text/html"), ("ETag", '"v1"')))
        kept = keep_page(Fetched("ok", 5, answer, self._body, 200), "")
        assert kept
        keeper = SegmentWriter(part(self._shop.blobs), part(self._shop.segments), self._shop.clock, OWNER)
        stored = await keeper.write([kept])
        self._shop.tasks.pages[77] = (stored.key, stored.facts[0])
        return KnownPage(77, stored.facts[0].digest, 5, '"v1"')


async def test_links_of_an_unchanged_page_are_admitted(shop: Shop):
    known = await Before(shop, b'<title>Old</title><a href="/2">x</a>').keep()
    shop.http.on(url(1), response(url(1), 304, b"", ()))
    shop.frontier.add(claimed(1, known=known))
    async with shop.open():
        await shop.until(lambda: shop.frontier.admitted)
    assert [task.url for task in shop.frontier.admitted] == [url(2)]
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert outcome.page
    assert (outcome.became, outcome.page.body_of, outcome.page.title) == ("completed", 77, "Old")


async def test_an_unchanged_page_that_is_lost_is_requested_again(shop: Shop):
    known = await Before(shop, b"<title>Old</title>").keep()
    shop.tasks.pages.clear()
    shop.http.on(url(1), response(url(1), 304, b"", ()), response(url(1)))
    shop.frontier.add(claimed(1, known=known))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    assert ["if-none-match" in dict(r.headers) for r in shop.http.requests] == [True, False]
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert outcome.page
    assert (outcome.became, outcome.page.body_of) == ("completed", None)


async def test_a_redirected_page_is_reported_under_its_final_url(shop: Shop):
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", "/2"),)))
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert outcome.renamed
    assert (outcome.became, outcome.renamed.url, outcome.renamed.key) == ("completed", url(2), dedupe_key(url(2)))


async def test_a_redirect_to_another_host_counts_its_hops(shop: Shop):
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", f"https://{HOST}:444/"),)))
    shop.runs.texts[RUN] = crawl_plan((), robots=False).text()
    shop.frontier.add(claimed(1, hops=2))
    async with shop.open():
        await shop.until(lambda: shop.frontier.admitted)
    assert [(t.url, t.hops, t.depth) for t in shop.frontier.admitted] == [(f"https://{HOST}:444/", 3, 0)]


async def test_a_single_task_goes_on_at_another_host_in_the_same_attempt(shop: Shop):
    there = f"https://{HOST}:444/"
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", there),)))
    shop.runs.texts[RUN] = crawl_plan((), robots=False, single=True, delay_ms=700, concurrency=3).text()
    shop.frontier.add(claimed(1, hops=2, home_id=9))
    async with shop.open():
        await shop.until(lambda: shop.frontier.reports)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.reason, outcome.due, outcome.attempts) == ("pending", "redirected", 0, 0)
    assert outcome.redirected == TaskRedirect(there, f"{HOST}:444", 3)
    assert outcome.began_at is not None
    assert outcome.began_at <= outcome.at
    assert [(r.number, r.url, r.target) for r in shop.frontier.reports[0].redirects] == [(2, url(1), there)]
    assert shop.frontier.admitted == []
    assert HostSetting(f"{HOST}:444", 700, 3) in shop.frontier.ensured
    assert shop.worker.progress.retries == 0


async def test_a_single_task_redirected_on_its_host_keeps_its_url(shop: Shop):
    shop.runs.texts[RUN] = crawl_plan((), robots=False, single=True).text()
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", "/2"),)))
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.renamed, outcome.strayed) == ("completed", None, True)


async def test_the_unchanged_own_page_of_a_task_is_parsed_again(shop: Shop):
    known = await Before(shop, b'<title>Old</title><a href="/2">x</a>').keep()
    shop.tasks.pages[1] = shop.tasks.pages[77]
    shop.http.on(url(1), response(url(1), 304, b"", ()))
    shop.frontier.add(claimed(1, known=structs.replace(known, task_id=1)))
    async with shop.open():
        await shop.until(lambda: shop.frontier.admitted)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.page, outcome.described) == ("completed", None, "Old")
    assert [task.url for task in shop.frontier.admitted] == [url(2)]
    assert [item.task_id for item in shop.frontier.reports[0].items] == [1]


@pytest.mark.parametrize(
    ("retry", "max_attempts", "became", "attempts"),
    [
        ("never", 2, "failed", None),
        ("recrawl", 2, "pending", None),
        ("recrawl", 1, "failed", None),
        ("reparse", 2, "downloaded", 1),
        ("reparse", 1, "failed", None),
    ],
)
async def test_a_failed_parser_is_retried_by_the_rule_of_the_plan(
    clock: FakeClock, retry: str, max_attempts: int, became: str, attempts: int | None
):
    @parser("broken", match="https://a.example/*")
    async def broken(page: Page):
        yield Item("note", title=str(1 / 0))

    shop = Shop(clock, broken, plan=crawl_plan((), robots=False, max_attempts=5, parser=retry))
    shop.frontier.add(claimed(1, max_attempts=max_attempts))
    async with shop.open():
        await shop.until(lambda: shop.frontier.reports)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert (outcome.became, outcome.reason, outcome.attempts) == (became, "parser_error", attempts)
    assert outcome.page is not None, "the page is kept"
    assert (outcome.due > 0) == (became != "failed")


def spoil(shop: Shop) -> None:
    """Damage every record of the archive."""
    shop.blobs.objects = {key: data[:-40] + bytes(20) + data[-20:] for key, data in shop.blobs.objects.items()}


async def test_an_equal_page_is_stored_whole_if_the_earlier_record_is_damaged(shop: Shop):
    body = b"<title>Old</title>"
    known = await Before(shop, body).keep()
    spoil(shop)
    shop.http.on(url(1), response(url(1), body=body))
    shop.frontier.add(claimed(1, known=known))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert outcome.page
    assert outcome.page.body_of is None, "a page that refers to a damaged record is lost"
    assert len(shop.http.requests) == 1


@pytest.mark.parametrize("damaged", [False, True])
async def test_a_task_with_a_damaged_page_of_its_own_is_fetched_unconditionally(shop: Shop, damaged: bool):
    known = await Before(shop, b"<title>Old</title>").keep()
    shop.tasks.pages[1] = shop.tasks.pages[77]
    if damaged:
        spoil(shop)
    shop.http.on(url(1), response(url(1), 304, b"", ()), response(url(1)))
    shop.frontier.add(claimed(1, known=structs.replace(known, task_id=1)))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    (outcome,) = shop.frontier.reports[0].reports[0].outcomes
    assert ["if-none-match" in dict(r.headers) for r in shop.http.requests] == [True, False][: 1 + damaged]
    assert (outcome.became, outcome.page is not None) == ("completed", damaged)


async def test_redirects_are_archived_with_the_final_page(shop: Shop):
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", "/2"),)))
    shop.http.on(url(2), response(url(2), 302, b"", (("Location", "/3"),)))
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    [batch] = [report for report in shop.frontier.reports if report.redirects]
    assert [(r.task_id, r.number, r.url, r.status) for r in batch.redirects] == [
        (1, 0, url(1), 301),
        (1, 1, url(2), 302),
    ]
    assert batch.segment
    assert batch.segment.records == 1


async def test_a_redirect_to_another_host_is_archived_without_a_page(shop: Shop):
    shop.http.on(url(1), response(url(1), 301, b"", (("Location", f"https://{HOST}:444/"),)))
    shop.runs.texts[RUN] = crawl_plan((), robots=False).text()
    shop.frontier.add(claimed(1))
    async with shop.open():
        await shop.until(lambda: shop.frontier.ended)
    [batch] = [report for report in shop.frontier.reports if report.redirects]
    assert [(r.task_id, r.url) for r in batch.redirects] == [(1, url(1))]
    assert batch.segment
    assert batch.segment.records == 0
