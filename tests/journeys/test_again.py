"""The same site a second time: an unchanged page costs a conditional request and a revisit record."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.journeys.archive import ask, is_page
from tests.servers import program
from tests.web import SiteHandle, running_site

PAGES = 40


def crawl(site: SiteHandle, out: Path, *more: str) -> str:
    done = program.run("crawl", site.url, "--depth", "9", "--out", str(out), *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kinds(out: Path) -> Counter[str]:
    """Return records of the archive by kind and, for revisits, by profile."""
    found: Counter[str] = Counter()
    for file in out.rglob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                if not is_page(record):
                    continue
                found[(record.rec_headers.get_header("WARC-Profile") or record.rec_type).rpartition("/")[2]] += 1
    return found


def statuses(site: SiteHandle, since: int) -> list[bool]:
    return ["if-none-match" in visit.headers for visit in site.requests[since:] if visit.path != "/robots.txt"]


@pytest.mark.parametrize(
    ("etags", "profile"), [(True, "server-not-modified"), (False, "identical-payload-digest")], ids=["etags", "none"]
)
def test_a_second_crawl_keeps_no_body_twice(tmp_path: Path, etags: bool, profile: str):
    with running_site(pages=PAGES) as site:
        site.site.etags = etags
        crawl(site, tmp_path)
        first, size = len(site.requests), sum(f.stat().st_size for f in tmp_path.rglob("*.warc.gz"))
        told = crawl(site, tmp_path, "--again")
        assert statuses(site, first) == [etags] * PAGES, "every page was requested once"
    assert re.search(rf"completed\W+ok\W+{PAGES}\b", told), "an unchanged page still leads to the others"
    assert kinds(tmp_path) == {"response": PAGES, profile: PAGES}
    assert ask(tmp_path, "SELECT COUNT(*), COUNT(body_of), COUNT(DISTINCT title) FROM pages") == [
        (2 * PAGES, PAGES, PAGES)
    ]
    assert ask(tmp_path, "SELECT SUM(records) FROM segments") == [(2 * PAGES,)]
    assert sum(f.stat().st_size for f in tmp_path.rglob("*.warc.gz")) < 2 * size


def test_a_changed_page_is_stored_anew_and_known_from_then_on(tmp_path: Path):
    with running_site(pages=3) as site:
        site.site.etags = True
        site.site.extra["/page/1"] = b"<title>One</title>"
        crawl(site, tmp_path)
        site.site.extra["/page/1"] = b"<title>Two</title>"
        crawl(site, tmp_path, "--again")
        crawl(site, tmp_path, "--again")
    rows = ask(tmp_path, "SELECT title, status, body_of IS NULL FROM pages WHERE url LIKE '%/page/1' ORDER BY task_id")
    exported = {page["url"][-7:]: page for page in map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines())}
    told = {name: exported["/page/1"][name] for name in ("status", "bytes", "content_type", "title")}
    assert told == {"status": 200, "bytes": 18, "content_type": "text/html; charset=utf-8", "title": "Two"}
    assert rows == [("One", 200, 1), ("Two", 200, 1), ("Two", 200, 0)], "an unchanged page has the facts of the page"
