"""Drives the two parsers of feedparser, the strict and the loose one, within bounds.

The library reads nearly everything, but some of what strangers can send it would hold it for hours. What costs too much
is cut short, passed over or refused here, before or while it is read.
"""

import re
import time
from io import BytesIO
from typing import Any
from xml.sax import SAXException, SAXParseException, handler, make_parser
from xml.sax.xmlreader import InputSource

from feedparser import FeedParserDict  # type: ignore[import-untyped]  # the library has no types
from feedparser.api import LooseFeedParser, StrictFeedParser  # type: ignore[import-untyped]  # the same
from feedparser.encodings import convert_to_utf8  # type: ignore[import-untyped]  # the same
from feedparser.exceptions import CharacterEncodingUnknown  # type: ignore[import-untyped]  # the same
from feedparser.sanitizer import replace_doctype  # type: ignore[import-untyped]  # the same

from longline.model.feed import NotAFeed
from longline.plugins.charset import charset_of, decode_as
from longline.plugins.sniffing import LOOKED_AT

MAX_GROWTH = 10_000_000
"""Characters that the entities of a document may grow to: a small file can be made to swell without end."""

MAX_WORK = 100_000_000
"""Characters that may be looked at in search of the encoding."""

MAX_SECONDS = 20.0
"""Time of the processor that one document may take."""

MAX_AUTHOR = 500
"""An author that is longer is cut: the library looks for an address in it, in the square of the time."""

_ENTITY = re.compile(rb"<!ENTITY\s[^<>\"']*(?:\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_ELEMENT = re.compile(rb"<\w")
_STRAY = re.compile(rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!#\d+;|#x[\da-f]+;|\w+;)", re.DOTALL | re.IGNORECASE)
_GUESSES = frozenset(("windows-1252", "iso-8859-2"))
"""What the library ends with when a document is not what it is declared as."""


class _Bounded:
    """What both parsers do besides: look at the clock, and cut what is too long."""

    seconds_left_at = 0.0
    # An id is a name, compared letter by letter: its spelling stays, and nothing is put before it.
    can_be_relative_uri = StrictFeedParser.can_be_relative_uri - {"id"}

    def unknown_starttag(self, tag: str, attrs: Any) -> None:
        self._go_on()
        super().unknown_starttag(tag, attrs)  # type: ignore[misc]  # mixed into the library's classes

    def handle_data(self, text: str, escape: int = 1) -> None:
        self._go_on()
        super().handle_data(text, escape)  # type: ignore[misc]  # the same

    def _start_image(self, attrs: Any) -> None:
        super()._start_image(attrs)  # type: ignore[misc]  # the same
        self.infeed = 1  # RSS 1.0 has its image beside the channel, where the library no longer looks

    def _sync_author_detail(self, key: str = "author") -> None:
        context = self._get_context()  # type: ignore[attr-defined]  # the same
        if isinstance(author := context.get(key), str):
            context[key] = author[:MAX_AUTHOR]
        super()._sync_author_detail(key)  # type: ignore[misc]  # the same

    def _go_on(self) -> None:
        if time.thread_time() > self.seconds_left_at:
            raise NotAFeed(f"the feed takes more than {MAX_SECONDS:g} seconds to read")


class _Strict(_Bounded, StrictFeedParser):  # type: ignore[misc]  # the library has no types
    pass


class _Loose(_Bounded, LooseFeedParser):  # type: ignore[misc]  # the library has no types
    pass


def read_xml(body: bytes, url: str, content_type: str) -> tuple[Any, str | None]:
    """What the library makes of a document, and what is wrong with it; `NotAFeed` for what costs too much."""
    _check(body)
    made = FeedParserDict(bozo=False, entries=[], feed=FeedParserDict())
    text = _utf8(body, content_type, made)
    made["version"], text, entities = replace_doctype(text)
    reader, flaw = None, None
    if made["encoding"]:
        reader, flaw = _strictly(text, url)
    elif isinstance(made.get("bozo_exception"), CharacterEncodingUnknown):
        flaw = str(made["bozo_exception"])
    if reader is None:
        reader = _bounded(_Loose(url, None, "utf-8", entities))
        reader.namespacemap["atom"] = ""  # feeds link to themselves by this prefix, and forget to declare it
        # The loose one takes any word after an ampersand for an entity, and closes it.
        text = _STRAY.sub(lambda found: found[1] or b"&amp;", text)
        reader.feed(text.decode("utf-8", "replace"))
    made.update(feed=reader.feeddata, entries=reader.entries, version=made["version"] or reader.version)
    return made, flaw


def _utf8(body: bytes, content_type: str, made: Any) -> bytes:
    text: bytes = convert_to_utf8({"content-type": content_type or "application/xml"}, body, made)
    if made["encoding"] in _GUESSES:
        # By one name the web means more signs than Python does, and some of its names Python does not know.
        name, skip = charset_of(body, content_type)
        if name not in ("utf-8", "windows-1252"):
            whole = decode_as(name, body[skip:]).encode("utf-8", "replace")
            return bytes(convert_to_utf8({"content-type": "application/xml; charset=utf-8"}, whole, made))
    return text


def _check(body: bytes) -> None:
    text = body.replace(b"\0", b"")
    if not _ELEMENT.search(text, 0, LOOKED_AT):
        raise NotAFeed("the document does not begin with an element")
    longest = max(map(len, _ENTITY.findall(text)), default=0)
    if longest * text.count(b"&") > MAX_GROWTH:
        raise NotAFeed("the document's entities would make it swell beyond all bounds")
    line = text.partition(b"\n")[0]
    if len(line) * line.count(b"encoding=") > MAX_WORK:
        raise NotAFeed("the document names its encoding too often")


def _strictly(text: bytes, url: str) -> tuple[Any, str | None]:
    """What was read, or None and what is wrong with the document."""
    reader = _bounded(_Strict(url, None, "utf-8"))
    sax, source = make_parser(), InputSource()
    sax.setFeature(handler.feature_namespaces, True)
    sax.setFeature(handler.feature_external_ges, False)
    sax.setContentHandler(reader)
    sax.setErrorHandler(reader)
    source.setByteStream(BytesIO(text))
    try:
        sax.parse(source)
    except SAXParseException as error:
        return None, f"line {error.getLineNumber()}: {error.getMessage()}"
    except SAXException as error:
        return None, str(error)
    return reader, None


def _bounded(reader: Any) -> Any:
    reader.seconds_left_at = time.thread_time() + MAX_SECONDS
    # Its own cleaning of HTML is quadratic in unclosed comments; ours comes later.
    reader.sanitize_html = reader.resolve_relative_uris = False
    return reader
