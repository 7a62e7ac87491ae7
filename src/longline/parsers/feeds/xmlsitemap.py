"""Entries of XML sitemaps, read piece by piece, so that a large document needs little more memory than its entries.

Namespaces are ignored, since many sitemaps get them wrong: an element is identified by its name and its place.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree

from longline.html.charset import charset_of, decode
from longline.model.feeds.sitemap import Alternate, News, NotASitemap, SitemapEntry, Video, fetchable_url
from longline.parsers.dates import timestamp_of

CHUNK_BYTES = 16 * 1024
"""Bytes that are parsed at once, which bounds the time that other threads wait."""

MAX_TEXT_BYTES = 1024 * 1024
"""Largest text between two tags: each piece of a longer text is joined with all pieces before it."""

_FREQUENCIES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))
# Many sitemaps leave ampersands in URLs unescaped, or use entities of HTML: both are read literally, so no entity that
# the document declares is ever expanded. Named references become numeric ones, the only form that the parser does not
# drop after an error.
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:(amp|lt|gt|quot|apos);|(?!#\d+;|#x[\da-fA-F]+;))", re.DOTALL
)
_NUMBERS = {b"amp": b"&#38;", b"lt": b"&#60;", b"gt": b"&#62;", b"quot": b"&#34;", b"apos": b"&#39;"}


class EntryReader:
    """A pull parser of places that frees each element as soon as it is read."""

    def __init__(self, tag: str, url: str) -> None:
        self._url = url
        spellings = [f"{{*}}{name}" for name in (tag, tag.upper(), tag.title())]
        self._pull = etree.XMLPullParser(
            ("end",), tag=spellings, encoding="utf-8", recover=True, resolve_entities=False, no_network=True
        )
        self.flaw: str | None = None

    def read(self, body: bytes, content_type: str) -> Iterator[SitemapEntry]:
        """Yield the entries of a document; raise `NotASitemap` where it cannot be read."""
        try:
            yield from self._read(_chunks(body, content_type))
        except (etree.LxmlError, ValueError) as error:
            raise NotASitemap(f"the sitemap cannot be read: {error}") from None

    def _read(self, pieces: Iterable[bytes]) -> Iterator[SitemapEntry]:
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


def _chunks(body: bytes, content_type: str) -> Iterator[bytes]:
    """Yield the document in UTF-8 piece by piece, stray ampersands escaped; each piece ends at the end of a tag."""
    rest = b""
    for text in _texts(body, content_type):
        rest = (rest + text.encode("utf-8", "replace")).lstrip()  # nothing may stand before the declaration
        end = rest.rfind(b">") + 1
        opened = rest.rfind(b"<![CDATA[", 0, end)
        if opened >= 0 and rest.find(b"]]>", opened, end) < 0:
            end = opened
        if len(rest) - end > MAX_TEXT_BYTES:
            return  # the parser reports that the document ends early
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


def _name(element: Any) -> str:
    """Return an element's name in lower case without its namespace or undeclared prefix."""
    tag = getattr(element, "tag", None)  # comments have a function there
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _found(parts: "_Parts", base: str) -> Iterator[SitemapEntry]:
    """Yield the place of an element; in broken documents also none, or several, each with its own properties."""
    for place_parts in parts.groups() if len(parts.get("loc", ())) > 1 else (parts,):
        for text in place_parts.texts("loc") or [place_parts.own]:
            if where := fetchable_url(text, base):
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
        tuple(image for part in parts.parts("image") if (image := fetchable_url(part.text("loc"), where))),
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
        fetchable_url(part.text("thumbnail_loc"), base),
        fetchable_url(part.text("content_loc"), base),
        fetchable_url(part.text("player_loc"), base),
        timestamp_of(part.text("publication_date")),
    )


def _alternates(links: Iterable[Any], base: str) -> Iterator[Alternate]:
    for link in links:
        where = fetchable_url(link.get("href") or "", base)
        if where and link.get("rel", "alternate") == "alternate":
            yield Alternate(where, link.get("hreflang") or "")


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None
