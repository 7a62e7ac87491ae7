"""Entries of XML sitemaps: dates and URLs at any nesting, in bounded memory."""

import subprocess
import sys

import pytest

from longline.model.feeds.sitemap import SitemapEntry
from longline.parsers.feeds.sitemap import read_sitemap
from longline.parsers.feeds.xmlsitemap import EntryReader

HERE = "http://www.example.com/sitemap.xml"


def test_the_library_is_imported_for_the_first_sitemap_alone() -> None:
    told = subprocess.run([sys.executable, "-c", LATE], check=True, capture_output=True, text=True, timeout=60)

    assert told.stdout.split() == ["False", "True"]


LATE = """
import sys
from longline.parsers.feeds.sitemap import read_sitemap
print("lxml" in sys.modules)
read_sitemap(b"<urlset><url><loc>http://a.example/</loc></url></urlset>")
print("lxml" in sys.modules)
"""


def test_a_truncated_document_has_its_whole_entries_and_a_flaw() -> None:
    reader = EntryReader("url", HERE)

    assert list(reader.read(b"<urlset><url><loc>/1</loc></url><url><loc>/2", "text/xml")) == [
        SitemapEntry("http://www.example.com/1")
    ]
    assert reader.flaw


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("2004", 1072915200000),
        ("2004-01", 1072915200000),
        ("2004-01-01", 1072915200000),
        ("2004-01-01T19:48Z", 1072986480000),
        ("2004-01-01T19:48:21-05:30", 1073006301000),
        ("2004-01-01T19:48:21.25+01:00", 1072982901250),
        ("Thu, 01 Jan 2004 19:48:21 GMT", 1072986501000),
        ("2099-01-01", 4070908800000),
        ("2004-02-30", None),
        ("lately", None),
        ("", None),
    ],
)
def test_dates(written: str, changed: int | None) -> None:
    document = f"<urlset><url><loc>http://a.example/</loc><lastmod>{written}</lastmod></url></urlset>"

    assert read_sitemap(document.encode(), HERE).places == (SitemapEntry("http://a.example/", changed),)


def test_an_element_inside_its_own_url_keeps_its_date() -> None:
    document = b"<urlset><url><loc><url>http://a.example/1</url></loc><lastmod>1970-01-02</lastmod></url></urlset>"

    assert read_sitemap(document).places == (SitemapEntry("http://a.example/1", 86_400_000),)


@pytest.mark.parametrize(
    ("inside", "days"),
    [
        ("<loc>/1</loc><loc>/2</loc><lastmod>1970-01-02</lastmod>", [1, 1]),
        ("<loc>/1</loc><loc>/2</loc><loc>/3</loc><lastmod>1970-01-02</lastmod>", [1, 1, 1]),
        ("<lastmod>1970-01-02</lastmod><loc>/1</loc><loc>/2</loc>", [1, 1]),
        ("<loc>/1</loc><lastmod>1970-01-02</lastmod><loc>/2</loc><lastmod>1970-01-03</lastmod>", [1, 2]),
        (
            "<loc>/1</loc><lastmod>1970-01-02</lastmod><loc>/2</loc><loc>/3</loc><lastmod>1970-01-04</lastmod>",
            [1, 3, 3],
        ),
        ("<loc>/1</loc><lastmod>1970-01-02</lastmod><loc>/2</loc>", [1, None]),
        ("<loc>/1</loc><changefreq>daily</changefreq><lastmod>1970-01-02</lastmod><loc>/2</loc>", [1, None]),
    ],
)
def test_urls_that_share_an_element_keep_their_dates(inside: str, days: list[int | None]) -> None:
    found = read_sitemap(f"<urlset><url>{inside}</url></urlset>".encode(), HERE).places

    assert [place.url[-2:] for place in found] == [f"/{n + 1}" for n in range(len(days))]
    assert [None if place.changed is None else place.changed // 86_400_000 for place in found] == days


GREEDY = """
from pathlib import Path
from longline.parsers.feeds.sitemap import read_sitemap
def most():
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
images = b"<image:image><image:loc>http://a.example/1.png</image:loc></image:image>" * 20
body = b"<url><loc>http://a.example/</loc>" + images + b"</url>"
body = b"<urlset>" + body * 4000
before = most()
assert len(read_sitemap(body).places) == 1
print((most() - before) / len(body))
"""


@pytest.mark.slow(reason="starts a process")
def test_places_are_released_as_they_are_read() -> None:
    """The peak memory of a separate process is measured: the memory of the XML parser is not Python's."""
    told = subprocess.run([sys.executable, "-c", GREEDY], check=True, capture_output=True, text=True, timeout=60)

    assert float(told.stdout) < 0.5
