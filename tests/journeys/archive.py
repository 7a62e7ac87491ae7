"""The results of a crawl in its folder, read with third-party tools."""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord


def is_page(record: ArcWarcRecord) -> bool:
    """Return true for the record of a page; redirects, requests and records about the file are none."""
    if record.rec_type != "response":
        return bool(record.rec_type == "revisit")
    return not (record.http_headers.get_statuscode().startswith("3") and record.http_headers.get_header("Location"))


def records(folder: Path) -> Counter[str]:
    """Return the number of records of each page in the WARC files of a folder."""
    found: Counter[str] = Counter()
    for file in sorted(folder.rglob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests=True):
                if not is_page(record):
                    continue
                assert record.rec_type == "response"
                assert record.http_headers.get_statuscode() == "200"
                record.content_stream().read()
                assert record.digest_checker.passed, record.digest_checker.problems
                found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


def ask(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return rows of the crawl's database."""
    with sqlite3.connect(folder / "longline.db") as database:
        rows = database.execute(sql).fetchall()
    database.close()
    return rows
