"""Bounded use of feedparser's two parsers, the strict and the loose one.

The library reads nearly every feed, but a hostile document could occupy it for hours. Input that costs too much is
truncated, skipped or refused here, before or during parsing.
"""

import re
import time
from html import unescape
from html.entities import html5
from io import BytesIO
from itertools import dropwhile
from typing import Any
from xml.sax import SAXException, SAXParseException, handler
from xml.sax.expatreader import ExpatParser
from xml.sax.xmlreader import AttributesNSImpl, InputSource

from feedparser import FeedParserDict
from feedparser.api import LooseFeedParser, StrictFeedParser
from feedparser.encodings import convert_to_utf8
from feedparser.exceptions import CharacterEncodingUnknown
from feedparser.sanitizer import replace_doctype

from longline.html.charset import charset_of, decode_as
from longline.html.type_sniffing import SNIFFED_BYTES
from longline.model.feeds.feed import NotAFeed

MAX_EXPANDED_CHARS = 10_000_000
"""Most characters to which the entities of a document may expand: a small file can expand without end."""

MAX_SEARCHED_CHARS = 100_000_000
"""Most characters that are searched for the encoding."""

MAX_SECONDS = 10.0
"""CPU seconds that one document may take."""

MAX_AUTHOR_CHARS = 500
"""Most characters of an author, beyond which it is cut: the library's search for an address takes quadratic time."""

MAX_NAMESPACES = 256
"""Most namespaces of a document: the library searches all of them at every element of an unknown namespace."""

MAX_BASE_URL_CHARS = 8192
"""Most characters of a base URL: each nested `xml:base` can make it longer."""

_ENTITY = re.compile(rb"<!ENTITY\s[^<>\"']*(?:\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_ELEMENT = re.compile(rb"<\w")
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|&(?:#(\d{1,7});|#[xX]([\da-fA-F]{1,6});|(\w{1,40});)?", re.DOTALL
)
_XML_ENTITIES = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_SIMPLE = re.compile(r"(?:[^&<]|&#\w{1,8};|&(?:amp|lt|gt|quot|apos);)*")
"""The value of an entity that contains no other entities and no elements."""

_GUESSES = frozenset(("windows-1252", "iso-8859-2"))
"""Encodings that the library falls back to when the declared encoding is wrong."""


_Mixin: Any = object
"""Base of a mixin of the library's classes, which have no types."""


class _Bounded(_Mixin):
    """A mixin of both parsers that checks the CPU time, and replaces methods that take quadratic time."""

    ends_at = 0.0
    # An id is compared character by character: it stays as written, and is not resolved against a base URL.
    can_be_relative_uri = StrictFeedParser.can_be_relative_uri - {"id"}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._tags: dict[int, set[tuple[Any, ...]]] = {}
        # The library's sanitizing of HTML is quadratic in unclosed comments; `markup.settled` does it later.
        self.sanitize_html = self.resolve_relative_uris = False

    def unknown_starttag(self, tag: str, attrs: Any) -> None:
        self._go_on()
        super().unknown_starttag(tag, attrs)
        if len(self.baseuri) > MAX_BASE_URL_CHARS:
            raise NotAFeed(f"the feed has a base URL of more than {MAX_BASE_URL_CHARS} characters")

    def handle_data(self, text: str, escape: int = 1) -> None:
        self._go_on()
        super().handle_data(text, escape)

    def track_namespace(self, prefix: str | None, uri: str) -> None:
        super().track_namespace(prefix, uri)
        if len(self.namespaces_in_use) > MAX_NAMESPACES:
            raise NotAFeed(f"the feed declares more than {MAX_NAMESPACES} namespaces")

    def pop(self, element: str, strip_whitespace: int = 1) -> Any:
        if stack := self.elementstack:
            # The library removes blank pieces from the front of this list one by one, moving all others each time.
            pieces = stack[-1][2]
            pieces[:] = list(dropwhile(lambda piece: not piece.strip(), pieces)) or pieces[:1]
        return super().pop(element, strip_whitespace)

    def _add_tag(self, term: Any, scheme: Any, label: Any) -> None:
        """Add a category that the entry does not have yet; the library's own method compares it with all others."""
        context = self._get_context()
        known, tags = self._tags.setdefault(id(context), set()), context.setdefault("tags", [])
        tag = (term, scheme, label)
        if any(tag) and tag not in known:
            known.add(tag)
            tags.append(FeedParserDict(term=term, scheme=scheme, label=label))

    def _start_image(self, attrs: Any) -> None:
        super()._start_image(attrs)
        self.infeed = 1  # RSS 1.0 has its image beside the channel, where the library no longer looks

    def _sync_author_detail(self, key: str = "author") -> None:
        context = self._get_context()
        if isinstance(author := context.get(key), str):
            context[key] = author[:MAX_AUTHOR_CHARS]
        super()._sync_author_detail(key)

    def _go_on(self) -> None:
        if time.thread_time() > self.ends_at:
            raise NotAFeed(f"the feed takes more than {MAX_SECONDS:g} seconds to read")


class _Attributes(AttributesNSImpl):
    """Attributes with constant-time lookup by qualified name."""

    def __init__(self, attributes: Any) -> None:
        values, names = dict(attributes.items()), attributes._qnames
        super().__init__(values, names)
        self._by_name = {names[key]: value for key, value in values.items()}

    def getValueByQName(self, name: str) -> Any:  # noqa: N802 - SAX calls it so
        return self._by_name[name]


class _Strict(_Bounded, StrictFeedParser):
    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:  # noqa: N802 - SAX calls it so
        super().startElementNS(name, qname, _Attributes(attrs))


class _Loose(_Bounded, LooseFeedParser):
    def pop(self, element: str, strip_whitespace: int = 1) -> Any:
        """End an element; unescape an id, in which the loose parser leaves character references as written."""
        if element in ("id", "guid") and (stack := self.elementstack) and stack[-1][0] == element:
            stack[-1][2][:] = [unescape(_joined(stack[-1][2]))]
        return super().pop(element, strip_whitespace)


class _Expat(ExpatParser):
    """Python's XML parser, which refuses entities made of other entities, and declarations of attributes."""

    def __init__(self, references: int) -> None:
        super().__init__()
        self._references = references

    def reset(self) -> None:
        super().reset()
        parser: Any = vars(self)["_parser"]
        parser.EntityDeclHandler, parser.AttlistDeclHandler = self._declared, _refused

    def _declared(self, _name: str, parameter: int, value: str | None, *_more: Any) -> None:
        if parameter or (value is not None and not _SIMPLE.fullmatch(value)):
            raise SAXException("an entity is made of other entities or of elements")
        _check_growth(len(value or ""), self._references)


def _refused(*_declared: Any) -> None:
    raise SAXException("the document declares attributes")


def read_xml(body: bytes, url: str, content_type: str) -> tuple[Any, str | None]:
    """Return the library's result for a document, and the document's flaw; raise `NotAFeed` if it costs too much."""
    _check(body)
    ends_at = time.thread_time() + MAX_SECONDS
    made = FeedParserDict(bozo=False, entries=[], feed=FeedParserDict())
    text = _utf8(body, content_type, made)
    made["version"], text, entities = replace_doctype(text)
    _check_growth(max(map(len, entities.values()), default=0), text.count(b"&"))
    reader, flaw = None, None
    if made["encoding"]:
        reader, flaw = _parse_strictly(text, url, ends_at)
    elif isinstance(made.get("bozo_exception"), CharacterEncodingUnknown):
        flaw = str(made["bozo_exception"])
    if reader is None:
        reader = _repaired(_with_references(text, entities), url, entities, ends_at)
    made.update(feed=reader.feeddata, entries=reader.entries, version=made["version"] or reader.version)
    return made, flaw


def _repaired(text: bytes, url: str, entities: dict[str, str], ends_at: float) -> Any:
    """Read a document with repaired references: by the strict parser if it is well-formed, else by the loose one."""
    reader, _ = _parse_strictly(text, url, ends_at)
    if reader is None:
        reader = _Loose(url, None, "utf-8", entities)
        reader.ends_at = ends_at
        reader.namespacemap["atom"] = ""  # feeds link to themselves by this prefix, and forget to declare it
        reader.feed(text.decode("utf-8", "replace"))
    return reader


def _with_references(text: bytes, entities: dict[str, str]) -> bytes:
    """Return a document in which each ampersand begins a valid reference of XML; valid references stay as they are."""

    def mend(found: re.Match[bytes]) -> bytes:
        passed, decimal, hexadecimal, name = found.groups()
        if passed is not None or name in _XML_ENTITIES or (name or b"").decode("utf-8", "replace") in entities:
            return found[0]
        if decimal or hexadecimal:
            return found[0] if _is_character(int(decimal or hexadecimal, 10 if decimal else 16)) else b"&#65533;"
        sign = html5.get(f"{name.decode('utf-8', 'replace')};") if name else None
        if sign is None:
            return b"&amp;" + found[0][1:]
        return b"".join(b"&#%d;" % ord(character) for character in sign)

    return _REFERENCE.sub(mend, text)


def _is_character(number: int) -> bool:
    """Return whether XML may refer to a character of that number."""
    return number in (9, 10, 13) or 0x20 <= number < 0xD800 or 0xE000 <= number < 0xFFFE or 0x10000 <= number < 0x110000


def _joined(pieces: list[Any]) -> str:
    return "".join(piece.decode("utf-8", "replace") if isinstance(piece, bytes) else piece for piece in pieces)


def _utf8(body: bytes, content_type: str, made: Any) -> bytes:
    text: bytes = convert_to_utf8({"content-type": content_type or "application/xml"}, body, made)
    if made["encoding"] in _GUESSES:
        # Some labels mean larger encodings on the web than in Python, and Python does not know all labels.
        name, skip = charset_of(body, content_type)
        if name not in ("utf-8", "windows-1252"):
            whole = decode_as(name, body[skip:]).encode("utf-8", "replace")
            return bytes(convert_to_utf8({"content-type": "application/xml; charset=utf-8"}, whole, made))
    return text


def _check(body: bytes) -> None:
    text = body.replace(b"\0", b"")
    if not _ELEMENT.search(text, 0, SNIFFED_BYTES):
        raise NotAFeed("the document does not begin with an element")
    _check_growth(max(map(len, _ENTITY.findall(text)), default=0), text.count(b"&"))
    line = text.partition(b"\n")[0]
    if len(line) * line.count(b"encoding=") > MAX_SEARCHED_CHARS:
        raise NotAFeed("the document names its encoding too often")


def _check_growth(longest: int, references: int) -> None:
    if longest * references > MAX_EXPANDED_CHARS:
        raise NotAFeed("the document's entities would make it swell beyond all bounds")


def _parse_strictly(text: bytes, url: str, ends_at: float) -> tuple[Any, str | None]:
    """Return the reader of a well-formed document, or None and the flaw."""
    reader = _Strict(url, None, "utf-8")
    reader.ends_at = ends_at
    sax, source = _Expat(text.count(b"&")), InputSource()
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
