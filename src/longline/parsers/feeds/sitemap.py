"""Sitemaps by the protocol of sitemaps.org, also as a list of URLs, a feed or a compressed file."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from importlib import import_module

from msgspec.structs import replace

from longline.html.charset import decode
from longline.html.type_sniffing import SNIFFED_BYTES, root_of
from longline.model.feeds.feed import NotAFeed
from longline.model.feeds.sitemap import (
    MAX_BYTES,
    MAX_PLACES,
    URL_BEGINNINGS,
    NotASitemap,
    Sitemap,
    SitemapEntry,
    fetchable_url,
)
from longline.model.fetch.content_encoding import Undecodable, readable
from longline.parsers.feeds.feed import read_feed
from longline.plugins import Item, Link, Page, parser

_GZIP = b"\x1f\x8b"
_MAX_COMPRESSION_LAYERS = 2
_ROOTS = {"urlset": "url", "sitemapindex": "sitemap"}
_LATE_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s/>]", re.IGNORECASE)
_FEEDS = frozenset(("rss", "rdf", "feed"))
_SNIFFED_LINES = 5


def is_sitemap(page: Page) -> bool:
    """Return whether a page is a sitemap by its first bytes, or a compressed file by its name."""
    if page.body.startswith(_GZIP):
        return "sitemap" in page.url.lower() or page.url.partition("?")[0].endswith((".xml.gz", ".txt.gz"))
    return root_of(page.body) in _ROOTS or (page.content_type.startswith("text/plain") and _is_list(page.body[:4096]))


@parser("sitemap", types=("*",), when=is_sitemap)
async def sitemap(page: Page) -> AsyncIterator[Item | Link]:
    """Yield the sitemap as an item, and a link to each of its places."""
    found = await asyncio.to_thread(read_sitemap, page.body, page.url, page.content_type)
    yield Item("sitemap", url=page.url, kind=found.kind, index=found.index, count=len(found.places), flaw=found.flaw)
    for place in found.places:
        # An index adds to the depth: indexes could list indexes without end.
        yield Link(place.url, deeper=found.index)


@parser("sitemap_places", match=(), types=("*",))
async def sitemap_places(page: Page) -> AsyncIterator[Item]:
    """Yield the URLs of a sitemap and their dates as two lists, which are fast to send between processes."""
    found = await asyncio.to_thread(read_sitemap, page.body, page.url, page.content_type)
    urls, changed = [place.url for place in found.places], [place.changed for place in found.places]
    yield Item("places", kind=found.kind, index=found.index, flaw=found.flaw, urls=urls, changed=changed)


def read_sitemap(body: bytes, url: str = "", content_type: str = "") -> Sitemap:
    """Read the sitemap in a document fetched from `url`; raises `NotASitemap` and nothing else."""
    try:
        body, flaw = _inflated(body)
    except Undecodable as error:
        raise NotASitemap(f"the file does not decompress: {error}") from None
    found = _read(body, url, content_type)
    return replace(found, flaw=flaw) if flaw else found


def _read(body: bytes, url: str, content_type: str) -> Sitemap:
    root = root_of(body)
    if root in _FEEDS:
        return _from_feed(body, url, content_type)
    if root not in _ROOTS and root != "html" and (late := _LATE_ROOT.search(body, 0, SNIFFED_BYTES)):
        # Error messages of the server's program precede the root element.
        body = body[late.start() :]
        root = root_of(body)
    if root in _ROOTS:
        return _from_xml(body, url, content_type, root)
    if root or not _is_list(body[:4096]):
        raise NotASitemap("the document is no sitemap")
    return _from_lines(decode(body[:MAX_BYTES], content_type), url)


def _inflated(body: bytes) -> tuple[bytes, str | None]:
    """Return the decompressed document, and the flaw of its file; some files are compressed twice."""
    flaw = None
    for _ in range(_MAX_COMPRESSION_LAYERS):
        if body.startswith(_GZIP):
            body, wrong = readable(body, MAX_BYTES)
            flaw = flaw or wrong
    if len(body) > MAX_BYTES:
        raise Undecodable("too_large", f"more than {MAX_BYTES} bytes")
    return body, flaw


def _is_list(start: bytes) -> bool:
    """Return whether most of the first lines are a URL each."""
    lines = [line.split() for line in decode(start).lstrip("\ufeff").splitlines() if line.strip()][:_SNIFFED_LINES]
    alone = [words[0] for words in lines if len(words) == 1]
    return 2 * sum(word.lower().startswith(URL_BEGINNINGS) for word in alone) > len(lines)


def _from_lines(text: str, url: str) -> Sitemap:
    lines = (line.strip() for line in text.lstrip("\ufeff").splitlines())
    return _sitemap_of("text", (SitemapEntry(where) for line in lines if (where := fetchable_url(line, url))))


def _from_feed(body: bytes, url: str, content_type: str) -> Sitemap:
    try:
        feed = read_feed(body, url, content_type)
    except NotAFeed as error:
        raise NotASitemap(str(error)) from None
    places = (SitemapEntry(entry.url, entry.updated or entry.published) for entry in feed.entries if entry.url)
    return _sitemap_of(feed.kind, places, flaw=feed.flaw)


def _sitemap_of(kind: str, places: Iterable[SitemapEntry], *, index: bool = False, flaw: str | None = None) -> Sitemap:
    found: dict[str, SitemapEntry] = {}
    for place in places:
        if len(found) >= MAX_PLACES:
            flaw = f"more than {MAX_PLACES} URLs; the rest is left out"
            break
        found.setdefault(place.url, place)
    return Sitemap(kind, tuple(found.values()), index, flaw)


def _from_xml(body: bytes, url: str, content_type: str, root: str) -> Sitemap:
    # Imported on first use: most crawls meet no sitemap.
    xmlsitemap = import_module("longline.parsers.feeds.xmlsitemap")
    reader = xmlsitemap.EntryReader(_ROOTS[root], url)
    found = _sitemap_of(root, reader.read(body, content_type), index=root == "sitemapindex")
    return found if found.flaw else replace(found, flaw=reader.flaw)
