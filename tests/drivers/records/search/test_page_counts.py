"""Counts of pages on both engines: they commit with the items that describe the pages, exactly once."""

from collections.abc import Mapping

from longline.model.frontier.task import PARSE, ClaimedTask, NewTask
from longline.model.search.item import NewItem, Origin, new_items
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.world import ME, TTL, admit, claim_one, ended, host_report, report, running_run, url, urls

ARTICLE = {"method": "selector", "words": "<200", "type": "article", "skipped": None}
STUB = {"method": "selector", "words": "<50", "type": "stub", "skipped": "quality_gate"}


def read(task: ClaimedTask | NewTask, task_id: int, fields: Mapping[str, str | None]) -> NewItem:
    """Return the item that describes the reading of a page."""
    (item,) = new_items([("extraction", fields)], Origin(task.run_id, task_id, task.url))
    return item


async def test_pages_are_counted_with_the_report_of_their_items_once(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    first, second = lease.tasks
    described = [read(first, first.id, ARTICLE), read(second, second.id, STUB)]
    others = new_items([("article", {"type": "x"})], Origin(run.id, first.id, first.url))
    await report(records, host_report(lease), items=[*described, *others])
    counted = {
        "pages.method.selector": 2,
        "pages.words.<200": 1,
        "pages.words.<50": 1,
        "pages.type.article": 1,
        "pages.type.stub": 1,
        "pages.skipped.quality_gate": 1,
    }
    assert await records.counters.all() == counted
    clock.advance(5)
    await records.items.put(described)
    assert await records.counters.all() == counted
    assert [item.kind for item in await records.items.of_run(run.id)] == ["article"]


async def test_a_stale_report_counts_no_page(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    lapsed = await claim_one(records)
    clock.advance(TTL / 1000 + 1)
    await records.frontier.reap(10)
    clock.advance(TTL / 1000)
    lease = await claim_one(records)
    (task,) = lease.tasks
    for held, refused in ((lapsed, True), (lease, False)):
        told = await report(records, host_report(held), items=[read(task, task.id, ARTICLE)])
        assert bool(told.refused) is refused
        assert (await records.counters.all()).get("pages.type.article", 0) == (not refused)


async def test_pages_that_were_parsed_separately_are_counted_with_their_outcome(records: Records):
    run = await running_run(records)
    await admit(records, url(run, executor=PARSE))
    (lease,) = await records.hands.take(PARSE, ME, 10, TTL)
    batch = ReportBatch(items=[read(lease.task, lease.task.id, ARTICLE)])
    for token, refused in ((lease.token + 1, True), (lease.token, False), (lease.token, True)):
        assert bool((await records.hands.give([(token, ended(lease.task))], batch)).refused) is refused
    assert (await records.counters.all())["pages.type.article"] == 1
