"""Pages of the archive are read back, from a folder and from S3."""

import pytest

from longline.model.archive.warc import DamagedRecord
from longline.model.errors import NotFound
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.archive.pages import ArchivedPages, DamagedPage
from tests.services.kept import HEADERS, keep

BODIES = {f"/{n}": f"<p>page {n}</p>".encode() * (n + 1) for n in range(20)}


async def test_every_page_is_read_from_its_place(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    archive = ArchivedPages(records.pages, archive_blobs)
    rows = await records.pages.of_run(run.id)
    assert len(rows) == 20
    for row in rows:
        record = await archive.record(row.segment, row.start, row.length)
        assert (record.url, record.body) == (row.url, BODIES[row.url.removeprefix("https://a.example")])


async def test_a_page_is_found_by_its_url_and_by_its_task(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    archive = ArchivedPages(records.pages, archive_blobs)
    page = await archive.by_url("https://A.example:443/7#here")
    assert (page.body, page.row.run_id, page.row.status) == (BODIES["/7"], run.id, 200)
    assert (await archive.by_task(page.row.task_id)).row == page.row


async def test_of_several_captures_the_last_is_read(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "warc/1.warc.gz", {"/": b"old"})
    run = await keep(records, archive_blobs, "warc/2.warc.gz", {"/": b"new"})
    page = await ArchivedPages(records.pages, archive_blobs).by_url("https://a.example/")
    assert (page.body, page.row.run_id) == (b"new", run.id)


async def test_the_body_of_a_revisit_is_that_of_the_page_it_repeats(records: Records, archive_blobs: Blobs):
    first = await keep(records, archive_blobs, "warc/1.warc.gz", {"/": b"same"})
    (original,) = await records.pages.of_run(first.id)
    await keep(records, archive_blobs, "warc/2.warc.gz", {"/": b"same"}, body_of=original.task_id)
    page = await ArchivedPages(records.pages, archive_blobs).by_url("https://a.example/")
    assert (page.record.type, page.record.headers, page.body) == ("revisit", HEADERS, b"same")


async def test_a_revisit_of_a_missing_page_is_an_error(records: Records, archive_blobs: Blobs):
    await keep(records, archive_blobs, "warc/1.warc.gz", {"/": b"same"}, body_of=999999)
    with pytest.raises(DamagedPage, match=r"the page of .*task 999999, which has the body of this page"):
        await ArchivedPages(records.pages, archive_blobs).by_url("https://a.example/")


async def test_a_missing_page_is_not_found(records: Records, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "warc/1.warc.gz", {"/": b"x"})
    archive = ArchivedPages(records.pages, archive_blobs)
    with pytest.raises(NotFound, match=r"no page of https://a\.example/nowhere"):
        await archive.by_url("https://a.example/nowhere")
    with pytest.raises(NotFound, match="task 999999 has no page"):
        await archive.by_task(999999)
    (row,) = await records.pages.of_run(run.id)
    with pytest.raises(DamagedRecord):
        await archive.record(row.segment, row.start, row.length - 1)
