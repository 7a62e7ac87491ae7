"""Links of crawled pages in the standing frontier, on both engines."""

import pytest

from longline.engine.discovery.onsite_links import OnsiteLinks
from longline.engine.worker.finished_task import Finished
from longline.model.frontier.standing_frontier import UrlQuery
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.discovery.contributions import reported
from tests.engine.web import standing
from tests.engine.worker.test_reporter import Desk, done
from tests.plans import changed, crawl_plan


@pytest.fixture
def spider(records: Records) -> OnsiteLinks:
    return OnsiteLinks(standing(records), lambda url: "story" in url)


async def page(records: Records, clock: FakeClock, *links: str) -> Finished:
    source = await records.sources.add(NewSource("a", "https://a.example/"))
    plan = crawl_plan(("https://a.example/",), hosts=("a.example",), source_id=source.id)
    made = done(await Desk(clock).claim(1), 1, links)
    return Finished(made.host, made.task, plan, made.fetched, made.parsed, made.page)


async def test_links_to_the_same_site_are_added_to_the_frontier(
    records: Records, spider: OnsiteLinks, clock: FakeClock
) -> None:
    found = await page(
        records, clock, "https://a.example/2", "https://a.example/story", "https://b.example/", "http://["
    )

    await reported(records, spider.contribute, found, found)

    [source] = await records.sources.find()
    rows, total = await records.standing.find(UrlQuery(kind="frontier.spider", sort="created_at"))
    assert total == 2
    assert {(row.url, row.priority, row.depth, row.source) for row in rows} == {
        ("https://a.example/2", 500, 2, source.public_id),
        ("https://a.example/story", 490, 2, source.public_id),
    }


async def test_links_of_pages_without_a_source_are_left_out(
    records: Records, spider: OnsiteLinks, clock: FakeClock
) -> None:
    found = await page(records, clock, "https://a.example/2")
    nobodys = Finished(
        found.host,
        found.task,
        changed(found.plan, source_id=None),
        found.fetched,
        found.parsed,
        found.page,
    )
    await reported(records, spider.contribute, nobodys)
    assert (await records.standing.find(UrlQuery()))[1] == 0
