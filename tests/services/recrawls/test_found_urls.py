"""URLs found on pages: children inherit from their parent, and each URL is taken once."""

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.recrawls.recrawl import RecrawlFind
from longline.model.recrawls.recrawl_lists import RecrawlQuery
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from longline.services.recrawls.found_urls import FoundUrls
from longline.services.recrawls.images import ProductImages
from longline.services.recrawls.recrawls import Recrawls
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.world import HOST, recrawl, shop, submit_one

CHILD = f"https://{HOST}/child"


def taker(records: Records, clock: FakeClock) -> FoundUrls:
    runs = RecrawlRuns(records.runs, records.sources, clock, Registry())
    images = ProductImages(records, Lifecycle(records).downloads, runs)
    return FoundUrls(records.found_urls, Recrawls(records, runs, PolitenessKey()), images)


async def test_children_inherit_and_refused_ones_are_dropped(records: Records, clock: FakeClock):
    run = await shop(records)
    parent = await submit_one(records, recrawl(run, priority=200, recurring=False, frequency="2 hours"))
    deep = await submit_one(records, recrawl(run, "/deep", depth=3))
    finds = [
        RecrawlFind(parent, "child", CHILD),
        RecrawlFind(parent, "child", "nonsense"),
        RecrawlFind(deep, "child", f"https://{HOST}/too-deep"),
        RecrawlFind(parent, "image", "https://cdn.example/a.png"),
    ]
    await records.frontier.report(ReportBatch(finds=finds))
    assert [one.url for one in await records.found_urls.find(9)] == [find.url for find in finds]
    assert [await taker(records, clock).once(), await taker(records, clock).once()] == [4, 0]
    rows = (await records.recrawls.find(RecrawlQuery(), limit=9)).rows
    [child] = [row for row in rows if row.id not in (parent, deep)]
    assert (child.url, child.parent_id, child.depth, child.priority) == (CHILD, parent, 1, 200)
    assert (child.created_by, child.frequency, child.recurring, child.phase) == ("system", "2 hours", False, "waiting")
