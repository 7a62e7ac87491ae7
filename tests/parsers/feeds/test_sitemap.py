"""Sitemaps with the mistakes of real ones. The documents are in `sitemaps/`."""

import asyncio
import gzip
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longline.model.feeds.sitemap import (
    MAX_BYTES,
    MAX_PLACES,
    Alternate,
    News,
    NotASitemap,
    Sitemap,
    SitemapEntry,
    Video,
)
from longline.parsers import page
from longline.parsers.feeds import feed
from longline.parsers.feeds import sitemap as module
from longline.parsers.feeds.sitemap import read_sitemap
from longline.plugins import Item, Link, Page
from longline.plugins.registry import Registry

SITEMAPS = Path(__file__).parent / "sitemaps"
FEEDS = Path(__file__).parent / "feeds"
HERE = "http://www.example.com/sitemap.xml"
CATALOG = "http://www.example.com/catalog"


def read(name: str) -> Sitemap:
    return read_sitemap((SITEMAPS / name).read_bytes(), HERE)


def urls(document: str) -> list[str]:
    return [place.url for place in read_sitemap(document.encode(), HERE).places]


def test_a_sitemap() -> None:
    found = read("urlset.xml")

    assert (found.kind, found.index, found.flaw) == ("urlset", False, None)
    assert found.places == (
        SitemapEntry("http://www.example.com/", 1104537600000, "monthly", 0.8),
        SitemapEntry(f"{CATALOG}?item=12&desc=vacation_hawaii", None, "weekly"),
        SitemapEntry(f"{CATALOG}?item=73&desc=vacation", 1103824815000),
        SitemapEntry("http://www.example.com/a?b=1&c=2"),
        SitemapEntry("http://www.example.com/%C3%BCmlat.html", 1099267200000),
    )


def test_an_index() -> None:
    found = read("index.xml")

    assert found.index
    assert found.places == (
        SitemapEntry("http://www.example.com/sitemap1.xml.gz", 1096654997000),
        SitemapEntry("http://www.example.com/sitemap2.xml.gz", 1104537600000),
        SitemapEntry("http://www.example.com/bare.xml"),
    )


def test_news_images_videos_and_other_languages() -> None:
    (place,) = read("extensions.xml").places

    assert place.url == "http://www.example.com/story.html"
    assert place.images == ("http://example.com/image.jpg", "http://www.example.com/photo.jpg")
    assert place.alternates == (Alternate("http://www.example.com/de/story.html", "de"),)
    assert place.news == News(
        "Companies A, B in Merger Talks", "The Example Times", "en", 1230028200000, ("business", "merger")
    )
    thumbnail, player = "http://www.example.com/thumbs/123.jpg", "http://www.example.com/player?video=123&x=1"
    assert place.videos == (Video("Grilling steaks", "How to", thumbnail, None, player, 1194261630000),)


def test_namespaces_and_tags_may_be_wrong() -> None:
    found = read("undeclared.xml")

    assert {place.url: place.images for place in found.places} == {
        "http://www.example.com/one": ("http://www.example.com/one.jpg",),
        "http://www.example.com/two": (),
        "http://www.example.com/three?a=1&b=2": (),
    }
    assert found.flaw is not None


@pytest.mark.parametrize("compressed", [False, True])
def test_a_list_of_urls(compressed: bool) -> None:
    body = (SITEMAPS / "lines.txt").read_bytes()

    found = read_sitemap(gzip.compress(body) if compressed else body, HERE)

    assert found.kind == "text"
    assert [place.url for place in found.places] == [
        "http://www.example.com/a",
        "http://www.example.com/b?c=1&d=2",
        "https://www.example.com/c",
    ]


@pytest.mark.parametrize(
    ("name", "kind", "changed"), [("rss20.xml", "rss", 1055235600000), ("atom10.xml", "atom", 1122854400000)]
)
def test_a_feed_serves_as_sitemap(name: str, kind: str, changed: int) -> None:
    found = read_sitemap((FEEDS / name).read_bytes(), HERE)

    assert (found.kind, found.places[0].changed) == (kind, changed)


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ("<urlset></urlset>", []),
        ("<!-- late --><?xml version='1.0'?><urlset><url><loc>http://a.example/?b&amp;c</loc></url></urlset>", ["http://a.example/?b&c"]),
        ("<urlset><url><loc>http://a.example/whole</loc></url><url><loc>http://a.example/hal", ["http://a.example/whole"]),
        ("<urlset><url><loc>http://a.example/1</lo", ["http://a.example/1"]),
        ("<urlset><url><loc>/1</loc><loc>/2</loc></url></urlset>", [f"http://www.example.com/{n}" for n in (1, 2)]),
        ("<urlset><url><loc><url><![CDATA[http://a.example/1]]></url></loc></url></urlset>", ["http://a.example/1"]),
        ("<urlset><url><loc><![CDATA[\u00a0http://a.example/1 ]]>\u2000</loc></url></urlset>", ["http://a.example/1"]),
        ("<urlset><url><loc>//b.example/</loc></url></urlset>", ["http://b.example/"]),
        ("<urlset><url><loc>www.c.example</loc></url></urlset>", ["http://www.c.example/"]),
        ("<urlset><url><loc>http://a.example/&copy=1&#38;b&lt;</loc></url></urlset>", ["http://a.example/&copy=1&b%3C"]),
        ("<urlset><url><loc>word</loc></url><url><loc>http://[</loc></url></urlset>", []),
        ('<!DOCTYPE urlset [<!ENTITY t SYSTEM "file:///etc/hostname">]><urlset><url><loc>&t;</loc></url></urlset>', []),
        ("<URLSET><URL><LOC>http://a.example/1</LOC></URL></URLSET>", ["http://a.example/1"]),
        ("<b>Notice</b>: x in y<urlset><url><loc>http://a.example/1</loc></url></urlset>", ["http://a.example/1"]),
        ("# all\nhttp://a.example/1\r\nhttp://a.example/1\nhttp://a.example/1", ["http://a.example/1"]),
        ("<!-- <urlset><url><loc>/no</loc> --><urlset><url><loc>/yes</loc></url></urlset>", ["http://www.example.com/yes"]),
    ],
)  # fmt: skip
def test_odd_documents(document: str, wanted: list[str]) -> None:
    assert urls(document) == wanted


@pytest.mark.parametrize(
    ("declared", "encoding", "content_type"),
    [
        ("utf-8", "utf-8", ""),
        ("utf-8", "utf-8-sig", ""),
        ("iso-8859-1", "latin-1", ""),
        ("utf-8", "latin-1", "text/xml; charset=iso-8859-1"),
        ("utf-16", "utf-16", ""),
        ("", "latin-1", ""),
    ],
)
def test_encodings(declared: str, encoding: str, content_type: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    body = f"{declaration}<urlset><url><loc>http://a.example/é</loc></url></urlset>".encode(encoding)

    assert [place.url for place in read_sitemap(body, HERE, content_type).places] == ["http://a.example/%C3%A9"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"this is a bogus sitemap",
        b"<html><body>http://a.example/</body></html>",
        b"<html><body><urlset><url><loc>http://a.example/</loc></url></urlset></body></html>",
        b"http://a.example/ is our site\nand this is no list of URLs\nhttp://a.example/1\n",
        b"\x1f\x8bno gzip",
        gzip.compress(b"a,b\n1,2"),
    ],
)
def test_a_document_that_is_no_sitemap_is_refused(body: bytes) -> None:
    with pytest.raises(NotASitemap):
        read_sitemap(body, HERE)


def numbered(count: int) -> bytes:
    places = (f"<url><loc>http://a.example/{n}</loc></url>" for n in range(count))
    return f"<urlset>{''.join(places)}</urlset>".encode()


@pytest.mark.parametrize(
    ("cut", "least", "flaw"),
    [
        (lambda file: file[: len(file) // 2], 200, "the compressed stream ends early"),
        (lambda file: file[:-8], 1000, "the compressed stream ends early"),
        (lambda file: file[:-8] + b"\0" * 8, 500, "checksum"),
        (lambda file: gzip.compress(file), 1000, None),
        (lambda file: gzip.compress(file)[:-20], 500, "the compressed stream ends early"),
        (lambda file: file + b"padding", 1000, None),
    ],
)
def test_the_readable_part_of_a_broken_file_is_used(
    cut: Callable[[bytes], bytes], least: int, flaw: str | None
) -> None:
    found = read_sitemap(cut(gzip.compress(numbered(1000))), HERE)

    assert least <= len(found.places) <= 1000
    assert found.places[0].url == "http://a.example/0"
    assert (found.flaw or "").lower().find(flaw or "") >= 0
    assert (found.flaw is None) == (flaw is None)


@pytest.mark.slow(reason="200 megabytes are packed")
def test_a_gzip_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b"<urlset>" + b"\0" * (MAX_BYTES * 4))

    tracemalloc.start()
    with pytest.raises(NotASitemap, match="more than"):
        read_sitemap(bomb, HERE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2 * MAX_BYTES


@pytest.mark.slow(reason="a sitemap of 20 megabytes")
async def test_a_large_sitemap_is_read_beside_the_loop_and_in_little_memory() -> None:
    padding = "p" * 400
    lines = (
        f"<url><loc>http://a.example/{padding}/{n}</loc><lastmod>2020-01-01</lastmod></url>"
        for n in range(MAX_PLACES + 1)
    )
    body = f"<urlset>{''.join(lines)}</urlset>".encode()
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    beating = asyncio.create_task(beat())
    found = await asyncio.to_thread(read_sitemap, body, HERE)
    beating.cancel()

    assert len(found.places) == MAX_PLACES
    assert found.flaw == "more than 50000 URLs; the rest is left out"
    assert beats > 10


def many(count: int) -> str:
    return " ".join(f"a{n}='1'" for n in range(count))


def test_an_endless_text_ends_the_sitemap_and_keeps_the_urls_before_it() -> None:
    found = read_sitemap(b"<urlset><url><loc>/1</loc></url><url><loc>" + b"a" * 3_000_000, HERE)

    assert [place.url for place in found.places] == ["http://www.example.com/1"]
    assert "Premature end" in (found.flaw or "")


def test_a_list_of_urls_without_their_scheme() -> None:
    found = read_sitemap(b"www.a.example/1\nWWW.a.example/2\r\nhttps://a.example/3\n", HERE)
    prose = b"www.a.example is where we are.\nCome and see.\nwww.a.example/map shows the way."

    assert (found.kind, len(found.places)) == ("text", 3)
    assert found.places[1].url == f"{HERE.partition(':')[0]}://www.a.example/2"
    with pytest.raises(NotASitemap):
        read_sitemap(prose, HERE)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("attributes", 16_000),
        ("children", 8000),
        ("nested", 4000),
        ("urls in one", 4000),
        ("text", 50_000),
        ("text without an end", 6_000_000),
        ("open cdata", 3_000_000),
    ],
)
@pytest.mark.slow(reason="measures time")
def test_time_is_about_linear_in_the_size(name: str, count: int) -> None:
    kinds: dict[str, Callable[[int], str]] = {
        "attributes": lambda n: f"<url {many(n)}><loc>/1</loc></url>",
        "children": lambda n: f"<url><loc>/1</loc>{'<image><loc>/i</loc></image>' * n}</url>",
        "nested": lambda n: "<url>" * n,
        "urls in one": lambda n: f"<url>{'<loc>/1</loc><lastmod>2004</lastmod>' * n}</url>",
        "text": lambda n: "&" * n,
        "text without an end": lambda n: f"<url><loc>{'a' * n}",
        "open cdata": lambda n: f"<url><loc><![CDATA[{'a>' * n}",
    }
    made = kinds[name]

    def seconds(n: int) -> float:
        body, taken = f"<urlset>{made(n)}</urlset>".encode(), []
        for _ in range(2):
            began = time.thread_time()
            read_sitemap(body, HERE)
            taken.append(time.thread_time() - began)
        return min(taken)

    assert seconds(2 * count) < 8 * seconds(count // 2) + 0.02, "sixteen times the time would be quadratic"


PIECES = st.sampled_from(
    b"<urlset>~</urlset>~<sitemapindex>~<url>~</url>~<sitemap>~<loc>~</loc>~http://a/~<lastmod>~2004-99-99~0000-01-01~"
    b"<![CDATA[~]]>~&~&#0;~&amp;~<!--~-->~<?~<image:image>~<a xmlns='~<!DOCTYPE a [<!ENTITY b 'c'>]>~\0~\xff~"
    b"\xef\xbb\xbf~\x1f\x8b~<priority>nan~<rss>~\xff\xfe<\0u\0~http://a.example/\n".split(b"~")
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=12), max_size=25), st.sampled_from(["", "text/xml; charset=utf-16", "x"]))
def test_nothing_but_the_typed_error_is_raised(pieces: list[bytes], content_type: str) -> None:
    try:
        found = read_sitemap(b"".join(pieces), HERE, content_type)
    except NotASitemap:
        return
    assert isinstance(found, Sitemap)


@pytest.mark.parametrize(
    ("url", "content_type", "body"),
    [
        (HERE, "text/html", (SITEMAPS / "index.xml").read_bytes()),
        (HERE, "", (SITEMAPS / "index.xml").read_bytes()),
        (
            "http://www.example.com/s/main.xml.gz",
            "application/gzip",
            gzip.compress((SITEMAPS / "index.xml").read_bytes()),
        ),
        ("http://www.example.com/list.txt", "text/plain", (SITEMAPS / "lines.txt").read_bytes()),
    ],
)
async def test_a_sitemap_is_detected_by_its_first_bytes(url: str, content_type: str, body: bytes) -> None:
    here = Page(url, body, content_type=content_type)

    found = Registry(page, feed, module).parser_for(here)
    assert found is not None
    made = [one async for one in found.parse(here)]

    assert isinstance(made[0], Item)
    assert (made[0].kind, made[0].fields["count"]) == ("sitemap", 3)
    assert all(isinstance(one, Link) for one in made[1:])
    assert len(made) == 4


@pytest.mark.parametrize(
    ("url", "content_type", "body"),
    [
        ("http://www.example.com/pictures.tar.gz", "application/gzip", gzip.compress(b"x")),
        ("http://www.example.com/notes.txt", "text/plain", b"see http://www.example.com/\n"),
        ("http://www.example.com/drawing.svg", "image/svg+xml", b"<svg/>"),
    ],
)
def test_documents_that_are_no_sitemaps_have_no_parser(url: str, content_type: str, body: bytes) -> None:
    assert Registry(page, feed, module).parser_for(Page(url, body, content_type=content_type)) is None
