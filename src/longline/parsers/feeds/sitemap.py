"""Sitemaps by the protocol of sitemaps.org, also as a list of URLs, a feed or a compressed file.

The document is read piece by piece, so that a large document needs little more memory than its entries. Namespaces are
ignored, since many sitemaps get them wrong: an element is identified by its name and its place.
"""

import asyncio
import codecs
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from lxml import etree
from msgspec.structs import replace

from longline.html.charset import charset_of, decode
from longline.html.sniffing import SNIFFED_BYTES, root_of
from longline.model.feeds.feed import NotAFeed
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
from longline.model.fetch.content_encoding import Undecodable, readable
from longline.model.url import join
from longline.parsers.dates import timestamp_of
from longline.parsers.feeds.feed import read_feed
from longline.plugins import Item, Link, Page, parser

CHUNK_BYTES = 16 * 1024
"""Bytes that are parsed at once, which bounds the time that other threads wait."""

_GZIP = b"\x1f\x8b"
_MAX_COMPRESSION_LAYERS = 2
_ROOTS = {"urlset": "url", "sitemapindex": "sitemap"}
_LATE_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s/>]", re.IGNORECASE)
_FEEDS = frozenset(("rss", "rdf", "feed"))
_FREQUENCIES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))
# Many sitemaps leave ampersands in URLs unescaped, or use entities of HTML: both are read literally, so no entity that
# the document declares is ever expanded. Named references become numeric ones, the only form that the parser does not
# drop after an error.
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:(amp|lt|gt|quot|apos);|(?!#\d+;|#x[\da-fA-F]+;))", re.DOTALL
)
_NUMBERS = {b"amp": b"&#38;", b"lt": b"&#60;", b"gt": b"&#62;", b"quot": b"&#34;", b"apos": b"&#39;"}
_SNIFFED_LINES = 5
_WEB = ("http://", "https://")
_WITHOUT_SCHEME = "www."
"""Beginning of URLs without a scheme."""


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
    return 2 * sum(word.lower().startswith((*_WEB, _WITHOUT_SCHEME)) for word in alone) > len(lines)


def _from_lines(text: str, url: str) -> Sitemap:
    lines = (line.strip() for line in text.lstrip("\ufeff").splitlines())
    return _sitemap_of("text", (SitemapEntry(where) for line in lines if (where := _web(line, url))))


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
    reader = _EntryReader(_ROOTS[root], url)
    index = root == "sitemapindex"
    try:
        found = _sitemap_of(root, reader.read(_chunks(body, content_type)), index=index)
    except (etree.LxmlError, ValueError) as error:
        raise NotASitemap(f"the sitemap cannot be read: {error}") from None
    return Sitemap(root, found.places, index, found.flaw or reader.flaw)


def _chunks(body: bytes, content_type: str) -> Iterator[bytes]:
    """Yield the document in UTF-8 piece by piece, stray ampersands escaped; each piece ends at the end of a tag."""
    rest = b""
    for text in _texts(body, content_type):
        rest = (rest + text.encode("utf-8", "replace")).lstrip()  # nothing may stand before the declaration
        end = rest.rfind(b">") + 1
        opened = rest.rfind(b"<![CDATA[", 0, end)
        if opened >= 0 and rest.find(b"]]>", opened, end) < 0:
            end = opened
        yield _REFERENCE.sub(_repaired_reference, rest[:end])
        rest = rest[end:]
    # Truncated text may be half a URL, which is another URL.
    yield _REFERENCE.sub(_repaired_reference, rest[: max(rest.rfind(b"<"), 0)])


def _texts(body: bytes, content_type: str) -> Iterator[str]:
    # Only the beginning: searching all of a large document is slow.
    name, skip = charset_of(body[: body.rfind(b">", 0, CHUNK_BYTES) + 1], content_type)
    if name != "utf-8":
        text = decode(body, content_type)
        yield from (text[at : at + CHUNK_BYTES] for at in range(0, len(text), CHUNK_BYTES))
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    yield from (decoder.decode(body[at : at + CHUNK_BYTES]) for at in range(skip, len(body), CHUNK_BYTES))


def _repaired_reference(found: re.Match[bytes]) -> bytes:
    return found[1] or _NUMBERS[found[2] or b"amp"]


class _EntryReader:
    """A pull parser of places that frees each element as soon as it is read."""

    def __init__(self, tag: str, url: str) -> None:
        self._url = url
        spellings = [f"{{*}}{name}" for name in (tag, tag.upper(), tag.title())]
        self._pull = etree.XMLPullParser(
            ("end",), tag=spellings, encoding="utf-8", recover=True, resolve_entities=False, no_network=True
        )
        self.flaw: str | None = None

    def read(self, pieces: Iterable[bytes]) -> Iterator[SitemapEntry]:
        for piece in pieces:
            self._pull.feed(piece)
            yield from self._places()
        try:
            self._pull.close()
        except etree.XMLSyntaxError as error:
            self.flaw = str(error)
        yield from self._places()
        if self.flaw is None and len(self._pull.feed_error_log):
            first = self._pull.feed_error_log[0]
            self.flaw = f"line {first.line}: {first.message}"

    def _places(self) -> Iterator[SitemapEntry]:
        for _, element in self._pull.read_events():
            if _name(element.getparent()) == "loc":
                continue  # an entry nested inside of a loc, instead of around it
            yield from _found(_Parts(element), self._url)
            element.clear()
            while (earlier := element.getprevious()) is not None and earlier.tag == element.tag:
                element.getparent().remove(earlier)


def _name(element: Any) -> str:
    """Return an element's name in lower case without its namespace or undeclared prefix."""
    tag = getattr(element, "tag", None)  # comments have a function there
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _found(parts: "_Parts", base: str) -> Iterator[SitemapEntry]:
    """Yield the place of an element; in broken documents also none, or several, each with its own properties."""
    for place_parts in parts.groups() if len(parts.get("loc", ())) > 1 else (parts,):
        for text in place_parts.texts("loc") or [place_parts.own]:
            if where := _web(text, base):
                yield _place(where, place_parts)


class _Parts(dict[str, list[Any]]):
    """The children of an element by name; namespaces are ignored."""

    def __init__(self, element: Any, children: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._element = element
        self.own = str(element.text or "").strip()
        for child in element if children is None else children:
            self.setdefault(_name(child), []).append(child)

    def groups(self) -> "Iterator[_Parts]":
        """Split the children into places: each `loc` that follows another element begins the next place."""
        group: list[Any] = []
        for child in self._element:
            begins = _name(child) == "loc" and group and _name(group[-1]) != "loc"
            if begins and any(_name(earlier) == "loc" for earlier in group):
                yield _Parts(self._element, group)
                group = []
            group.append(child)
        yield _Parts(self._element, group)

    def texts(self, name: str) -> list[str]:
        """Return the text of each child of that name, including its descendants."""
        return ["".join(child.itertext()).strip() for child in self.get(name, ())]

    def text(self, name: str) -> str:
        """Return the text of the first child of that name."""
        return next(iter(self.texts(name)), "")

    def parts(self, name: str) -> "Iterator[_Parts]":
        """Return the children of each child of that name."""
        return map(_Parts, self.get(name, ()))


def _place(where: str, parts: _Parts) -> SitemapEntry:
    frequency, priority = parts.text("changefreq").lower(), parts.text("priority")
    return SitemapEntry(
        where,
        timestamp_of(parts.text("lastmod")),
        frequency if frequency in _FREQUENCIES else "",
        _priority(priority) if priority else None,
        next(map(_news, parts.parts("news")), None),
        tuple(image for part in parts.parts("image") if (image := _web(part.text("loc"), where))),
        tuple(_video(part, where) for part in parts.parts("video")),
        tuple(_alternates(parts.get("link", ()), where)),
    )


def _news(part: _Parts) -> News:
    publication = next(part.parts("publication"), part)
    return News(
        part.text("title"),
        publication.text("name"),
        publication.text("language"),
        timestamp_of(part.text("publication_date")),
        tuple(word for piece in part.text("keywords").split(",") if (word := piece.strip())),
    )


def _video(part: _Parts, base: str) -> Video:
    return Video(
        part.text("title"),
        part.text("description"),
        _web(part.text("thumbnail_loc"), base),
        _web(part.text("content_loc"), base),
        _web(part.text("player_loc"), base),
        timestamp_of(part.text("publication_date")),
    )


def _alternates(links: Iterable[Any], base: str) -> Iterator[Alternate]:
    for link in links:
        where = _web(link.get("href") or "", base)
        if where and link.get("rel", "alternate") == "alternate":
            yield Alternate(where, link.get("hreflang") or "")


def _web(text: str, base: str) -> str | None:
    """Return an absolute URL that can be fetched, or None; a missing scheme or host is added."""
    if text.lower().startswith(_WITHOUT_SCHEME):
        text = f"//{text}"
    return join(base or text, text) if text.lower().startswith((*_WEB, "/")) else None


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
