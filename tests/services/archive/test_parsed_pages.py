"""Archived pages, parsed a few at a time."""

import asyncio
from types import ModuleType

from longline.engine.archive.page_reader import PageReader
from longline.engine.parse.page_parser import PageParser
from longline.plugins import Item, Page, parser
from longline.plugins.registry import Registry
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.archive import parsed_pages
from longline.services.archive.parsed_pages import ParsedPages
from tests.services.kept import keep

BODIES = {f"/{n}": f"<h1>page {n}</h1>".encode() for n in range(7)}


async def test_pages_come_in_order_and_in_batches_while_few_are_parsed_at_once(
    records: Records, archive_blobs: Blobs, monkeypatch
):
    monkeypatch.setattr(parsed_pages, "BATCH_SIZE", 5)
    under_way = most = 0

    @parser("slow", light=True)
    async def slow(page: Page):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        yield Item("head", title=page.text("h1"))

    own = ModuleType("own")
    vars(own)["slow"] = slow
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    reader = PageReader(records.pages, archive_blobs)
    told: list[tuple[int, int]] = []
    pages = ParsedPages(records.pages, reader, PageParser(Registry(own)), at_once=3)

    batches = [
        [(page.row.url[-2:], [item.fields["title"] for item in page.parsed.items]) for page in batch]
        async for batch in pages.of_run(run.id, {}, lambda done, total: told.append((done, total)))
    ]

    assert [len(batch) for batch in batches] == [5, 2]
    rows = await records.pages.of_run(run.id)
    assert [page for batch in batches for page in batch] == [(row.url[-2:], [f"page {row.url[-1]}"]) for row in rows]
    assert told == [(done, 7) for done in range(1, 8)]
    assert 1 < most <= 3
