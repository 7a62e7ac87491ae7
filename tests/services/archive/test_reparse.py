"""Archived pages are parsed anew without a request."""

from types import ModuleType

from msgspec.structs import replace

from longline.engine.archive.page_reader import PageReader
from longline.engine.parse.page_parser import PageParser
from longline.model.archive.page import PageRow
from longline.model.search.item import Origin, new_items
from longline.parsers.article import article
from longline.plugins import Item, Page, parser
from longline.plugins.registry import Registry
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, WrittenSegment
from longline.services.archive.parsed_pages import ParsedPages
from longline.services.archive.reparse import Reparse, Reparsed
from longline.testing.clock import FakeClock
from tests.drivers.records.world import DELAY, ME, claim_one, ended, host_report, page, report
from tests.services.kept import keep

BODIES = {f"/{n}": f"<h1>page {n}</h1>".encode() for n in range(5)}


@parser("heads", light=True)
def heads(page: Page):
    if page.url.endswith("/3"):
        raise ValueError("no head")
    yield Item("head", title=page.text("h1"), url=page.url, mark=page.config.get("mark"))


def parts(records: Records, blobs: Blobs) -> Reparse:
    own = ModuleType("own")
    vars(own)["heads"] = heads
    registry = Registry(own)
    pages = ParsedPages(records.pages, PageReader(records.pages, blobs), PageParser(registry), at_once=2)
    return Reparse(pages, records.items)


async def test_unchanged_items_keep_their_ids(records: Records, archive_blobs: Blobs, clock: FakeClock):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    await keep(records, archive_blobs, "warc/2.warc.gz", {"/other": b"of another run"})
    told: list[tuple[int, int]] = []

    first = await parts(records, archive_blobs).run(run.id, {}, lambda done, total: told.append((done, total)))

    assert told == [(done, 5) for done in range(1, 6)]
    assert (first.pages, first.items, first.changed, first.failed) == (5, 4, 4, 1)
    assert "/3: heads: " in str(first.error)
    assert "ValueError" in str(first.error)
    items = await records.items.of_run(run.id)
    assert sorted(item.title for item in items) == ["page 0", "page 1", "page 2", "page 4"]

    clock.advance(1.0)
    again = await parts(records, archive_blobs).run(run.id, {}, lambda *_: None)
    assert (again.items, again.changed) == (4, 0)
    other = await parts(records, archive_blobs).run(run.id, {"mark": "new"}, lambda *_: None)
    assert (other.items, other.changed) == (4, 4)
    assert [item.id for item in await records.items.of_run(run.id)] == [item.id for item in items]


async def test_items_that_are_only_counted_are_not_kept(records: Records, archive_blobs: Blobs):
    story = "".join(f"<p>Day {day}: the line is set at dusk and hauled at dawn.</p>" for day in range(9)).encode()
    run = await keep(records, archive_blobs, "warc/1.warc.gz", {"/news/a": story, "/": story})
    reader = PageReader(records.pages, archive_blobs)
    pages = ParsedPages(records.pages, reader, PageParser(Registry(article)), at_once=2)

    done = await Reparse(pages, records.items).run(run.id, {"parser": "article"}, lambda *_: None)

    assert (done.pages, done.items, done.failed, done.without_item) == (2, 1, 0, {"page_type": 1})
    assert [(item.kind, item.url[-7:]) for item in await records.items.of_run(run.id)] == [("article", "/news/a")]


async def test_a_page_that_is_fetched_again_meanwhile_keeps_its_newer_items(
    records: Records, archive_blobs: Blobs, clock: FakeClock
):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", {f"/{n}": b"<h1>old</h1>" for n in range(3)})
    await parts(records, archive_blobs).run(run.id, {}, lambda *_: None)
    again = (await records.pages.of_run(run.id))[1]

    async def fetch_again() -> None:
        await records.moves.apply(Change("task", again.task_id, "restart", "completed", "pending", "person"))
        clock.advance(DELAY / 1000)
        lease = await claim_one(records)
        [task] = lease.tasks
        segment = WrittenSegment(await records.segments.begin("warc/2.warc.gz", ME), 1, 100)
        items = new_items([("head", {"title": "new", "url": task.url})], Origin(run.id, task.id, task.url))
        stored = replace(page(), url=task.url)
        await report(records, host_report(lease, [ended(task, page=stored)]), segment=segment, items=items)

    @parser("late", light=True)
    async def late(page: Page):
        if page.url == again.url:
            await fetch_again()
        yield Item("head", title="parsed", url=page.url)

    own = ModuleType("own")
    vars(own)["late"] = late
    pages = ParsedPages(records.pages, PageReader(records.pages, archive_blobs), PageParser(Registry(own)), at_once=1)
    done = await Reparse(pages, records.items).run(run.id, {}, lambda *_: None)
    assert done == Reparsed(pages=3, items=2, changed=2, replaced=1)
    titles = {item.url[-2:]: item.title for item in await records.items.of_run(run.id)}
    assert titles == {"/0": "parsed", "/1": "new", "/2": "parsed"}


async def test_a_lost_page_is_counted_as_a_failure(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", {"/1": b"<h1>x</h1>"})
    (row,) = await records.pages.of_run(run.id)
    assert isinstance(row, PageRow)
    await archive_blobs.delete([row.segment])

    done = await parts(records, archive_blobs).run(run.id, {}, lambda *_: None)

    assert (done.pages, done.items, done.failed) == (1, 0, 1)
    assert await parts(records, archive_blobs).run(run.id + 1, {}, lambda *_: None) == Reparsed()
