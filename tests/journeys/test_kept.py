"""The results of a crawl, read by longline's commands and by third-party tools."""

import json
from pathlib import Path

from arro3.io import read_parquet

from tests.journeys.archive import records
from tests.servers import program
from tests.web import running_site

PAGES = 40


def longline(*words: str) -> bytes:
    done = program.run_for_bytes(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_crawl_leaves_tables_and_every_page_can_be_read(tmp_path: Path):
    out, files = str(tmp_path / "out"), tmp_path / "files"
    with running_site(pages=PAGES) as site:
        said = longline("crawl", site.url, "--depth", "10", "--out", out)
    assert b"pages.jsonl, pages.parquet" in said.replace(b"items.jsonl, items.parquet, ", b"")
    told = [json.loads(line) for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert {page["url"] for page in told} == set(site.page_urls)
    assert read_parquet(tmp_path / "out" / "pages.parquet").read_all().num_rows == PAGES

    longline("export", "--data", out, "--out", str(files), "--formats", "warc,csv")
    assert records(files) == records(tmp_path / "out" / "warc")

    url = told[7]["url"]
    assert len(longline("page", url, "--data", out)) == told[7]["bytes"]
    assert f"status: {told[7]['status']}\n".encode() in longline("page", url, "--data", out, "--headers")
