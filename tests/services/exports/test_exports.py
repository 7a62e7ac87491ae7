"""Exports: every page, item and URL of a run once, in each format."""

import csv
import io
import json
from pathlib import Path

from arro3.io import read_parquet
from warcio.archiveiterator import ArchiveIterator

from longline.drivers.exports import FolderExport
from longline.model.search.item import Origin, new_items
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.exports import exports as exports_module
from longline.services.exports.exports import Exports, ExportStores
from longline.testing.clock import FakeClock
from tests.services.kept import keep

BODIES = {f"/{n}": f"<p>page {n}</p>".encode() for n in range(7)}
FORMATS = ("warc", "jsonl", "parquet", "csv")


def sizes(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_size for path in folder.iterdir()}


async def exported(
    records: Records, blobs: Blobs, run_id: int, folder: Path, formats: tuple[str, ...] = FORMATS
) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    with FolderExport(folder, formats) as files:
        exported = await Exports(ExportStores(records.pages, records.items, records.tasks), blobs, FakeClock()).run(
            run_id, files, formats, lambda done, total: told.append((done, total))
        )
    assert {file.path: file.bytes for file in exported.files} == sizes(folder)
    assert exported.damaged == []
    return told


async def test_pages_and_items_in_every_format(records: Records, archive_blobs: Blobs, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(exports_module, "CHUNK", 3)
    run = await keep(records, archive_blobs, "warc/1.warc.gz", BODIES)
    await keep(records, archive_blobs, "warc/2.warc.gz", {"/other": b"of another run"})
    made = [("article", {"title": f'Ünï, "{n}"\n', "body": "b", "tags": ["x", n], "price": 1.5}) for n in range(4)]
    await records.items.put(new_items(made, Origin(run.id, 1, "https://a.example/")))
    out = tmp_path / "out"
    assert await exported(records, archive_blobs, run.id, out) == [(3, 7), (6, 7), (7, 7)]

    pages = [json.loads(line) for line in (out / "pages.jsonl").read_text().splitlines()]
    assert {page["url"].removeprefix("https://a.example") for page in pages} == set(BODIES)
    assert pages[0]["fetched_at"].startswith("2023-11-14T22:13:20")
    items = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    assert items[0]["fields"] == {"tags": ["x", items[0]["fields"]["tags"][1]], "price": 1.5}

    table = read_parquet(out / "pages.parquet").read_all()
    assert table.num_rows == 7
    assert "Timestamp(ms" in str(table.schema.field("fetched_at").type)
    assert table.column("url").to_pylist() == [page["url"] for page in pages]
    table = read_parquet(out / "items.parquet").read_all()
    assert table.column("title").to_pylist() == [item["title"] for item in items]
    assert json.loads(table.column("fields").to_pylist()[0]) == items[0]["fields"]

    rows = list(csv.DictReader(io.StringIO((out / "items.csv").read_text())))
    assert [row["title"] for row in rows] == [item["title"] for item in items]

    with (out / "pages.warc.gz").open("rb") as stream:
        first, *others = [
            (r.rec_type, r.rec_headers.get_header("WARC-Target-URI"), r.content_stream().read())
            for r in ArchiveIterator(stream)
        ]
    assert first[0] == "warcinfo"
    kept = {url: body for _, url, body in others}
    assert kept == {f"https://a.example{path}": body for path, body in BODIES.items()}


async def test_only_the_given_formats_are_written(records: Records, tmp_path: Path, archive_blobs: Blobs):
    run = await keep(records, archive_blobs, "one", BODIES)
    await exported(records, archive_blobs, run.id, tmp_path / "a", ("warc",))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["pages.warc.gz"]
    await exported(records, archive_blobs, run.id, tmp_path / "b", ("csv",))
    assert [path.name for path in sorted((tmp_path / "b").iterdir())] == ["pages.csv", "urls.csv"]


async def test_a_run_without_pages_writes_nothing(records: Records, tmp_path: Path, archive_blobs: Blobs):
    assert await exported(records, archive_blobs, 12345, tmp_path / "out") == []
    assert list((tmp_path / "out").iterdir()) == []


async def warc(records: Records, blobs: Blobs, run_id: int, folder: Path) -> tuple[dict[str, str], list[str]]:
    """Export a run as WARC; return the damaged pages, and the types of the written records."""
    with FolderExport(folder, ("warc",)) as files:
        exports = Exports(ExportStores(records.pages, records.items, records.tasks), blobs, FakeClock())
        exported = await exports.run(run_id, files, ("warc",), lambda *_: None)
    with (folder / "pages.warc.gz").open("rb") as stream:
        read = [(r.rec_type, r.content_stream().read()) for r in ArchiveIterator(stream, check_digests="raise")]
    kinds = [kind for kind, _ in read]
    return {damage.url: damage.problem for damage in exported.damaged}, kinds


async def test_damaged_pages_are_named_and_the_rest_is_written_whole(
    records: Records, archive_blobs: Blobs, tmp_path: Path
):
    run = await keep(records, archive_blobs, "one", BODIES)
    rows = sorted(await records.pages.of_run(run.id), key=lambda row: row.start)
    data = bytearray(await archive_blobs.get("one"))
    data[rows[1].start + rows[1].length // 2] ^= 4
    await archive_blobs.put("one", bytes(data[: rows[5].start + 10]))
    damaged, kinds = await warc(records, archive_blobs, run.id, tmp_path / "a")
    assert set(damaged) == {rows[n].url for n in (1, 5, 6)}
    assert kinds == ["warcinfo", *["response"] * 4]
    await archive_blobs.delete(["one"])
    damaged, kinds = await warc(records, archive_blobs, run.id, tmp_path / "b")
    assert damaged == {row.url: "the segment is lost" for row in rows}
    assert kinds == ["warcinfo"]


async def test_a_revisit_is_written_with_the_record_of_its_body(records: Records, archive_blobs: Blobs, tmp_path: Path):
    first = await keep(records, archive_blobs, "one", {"/": b"same"})
    (row,) = await records.pages.of_run(first.id)
    again = await keep(records, archive_blobs, "two", {"/": b"same"}, body_of=row.task_id)
    assert await warc(records, archive_blobs, again.id, tmp_path / "a") == ({}, ["warcinfo", "response", "revisit"])
    await archive_blobs.delete(["one"])
    damaged, kinds = await warc(records, archive_blobs, again.id, tmp_path / "b")
    assert damaged == {row.url: f"its body is in the record of task {row.task_id}: the segment is lost"}
    assert kinds == ["warcinfo"]
