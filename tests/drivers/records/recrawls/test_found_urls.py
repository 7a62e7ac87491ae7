"""URLs found on pages of recrawls wait in the order in which they were found."""

from longline.model.recrawls.recrawl import RecrawlFind
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from tests.drivers.records.recrawls.world import recrawl, shop, submit_one


async def test_found_urls_wait_until_they_are_deleted(records: Records):
    run = await shop(records)
    task_id = await submit_one(records, recrawl(run))
    finds = [
        RecrawlFind(task_id, "child", "https://shop.example/a"),
        RecrawlFind(task_id, "image", "https://x.example/b"),
    ]
    await records.frontier.report(ReportBatch(finds=finds))
    first, second = await records.found_urls.find(9)
    assert (first.url, first.kind, second.kind, second.source_id) == (finds[0].url, "child", "image", run.source_id)
    assert await records.found_urls.find(1) == [first]
    await records.found_urls.delete([first.id])
    assert await records.found_urls.find(9) == [second]
