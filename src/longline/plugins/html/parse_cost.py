"""Refuses markup that would hold the HTML parser for minutes.

The parser looks through all open elements at many a tag, and through all attributes of a tag at each of them, so a
megabyte of `<div>` costs minutes where a normal page costs milliseconds. Browsers stop nesting at some depth; our
parser does not, so large pages are looked at beforehand. The look is quick and can be led astray by tags inside of
scripts and comments, so `wild` pages are given a deadline as well.
"""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate

from longline.model.errors import LonglineError
from longline.plugins.html.nesting import NEVER_DEEP, Nesting

HARMLESS_BYTES = 64 * 1024
"""A page of this size cannot cost more than two seconds, whatever it is made of; most are smaller."""

QUICK_BYTES = 256 * 1024
FEW_TAGS = 2000
QUICK_TAGS = 6_500_000
QUICK_TAG_BYTES = 4096
QUICK_URL_BYTES = 1024
"""A page within these bounds takes some milliseconds, whatever it is made of; a thread would cost about as much.

They are its size, its tags, or these times its opening tags, its longest tag, and its URL, to which links are relative.
"""

THREAD_BYTES = 1024 * 1024
THREAD_TAGS = 100_000_000
"""A page within these bounds takes half a second at most, for which a thread may wait.

They are its size, and its tags times its opening tags.
"""

CAREFUL_BYTES = 512 * 1024
"""Beyond this size tags are read to their true end, which costs as much as parsing."""

MANY_TAGS = 100_000_000
"""Tags times opening tags: with less, a page cannot be nested so that it takes long."""

WILD_TAGS = 10 * MANY_TAGS
"""The same for what can take several seconds; with less, a thread may wait for it."""

MAX_WORK = 50_000_000
"""Open elements that the parser looks at, over all tags."""

MAX_ATTRIBUTES = 5000
_LONG = 4 * MAX_ATTRIBUTES
"""No tag with more attributes is shorter."""

_ESCAPE = b"\x1b"
_TAG = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9:-]*")
_TAG_TO_END = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)")
_SLASH = re.compile(rb"(?:^|[\s\"']|\s[^\s=]+)/$")
"""A slash that ends an element: not one at the end of a value without quotes."""

_WHOLE_TAG = re.compile(rb"<[a-zA-Z](?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+")
_NAME = re.compile(rb"[^\s/=]+")
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")


class TooComplex(LonglineError):
    """Markup that is nested too deeply, or has too many attributes, to be parsed in reasonable time."""


class ParseCost(Enum):
    """Time that it may take to parse a page.

    A few milliseconds, half a second, longer, or so long that there must be a deadline.
    """

    LITTLE = 0
    SOME = 1
    MUCH = 2
    WILD = 3


def check_intricacy(markup: bytes) -> None:
    """Raise `TooComplex` for a page that must not be parsed."""
    if len(markup) > HARMLESS_BYTES:
        _check_depth(markup)
        _check_attributes(markup)


def effort_of(markup: bytes, url: str = "") -> ParseCost:
    """Return what a page asks for, before it is parsed."""
    signs = markup.count(b"<")
    tags = signs * (signs - markup.count(b"</")) if signs > FEW_TAGS else 0
    if len(markup) <= THREAD_BYTES and tags <= THREAD_TAGS and _is_ordinary(markup, url):
        return ParseCost.SOME if tags > QUICK_TAGS or len(markup) > QUICK_BYTES else ParseCost.LITTLE
    return ParseCost.WILD if tags > WILD_TAGS else ParseCost.MUCH


def _is_ordinary(markup: bytes, url: str) -> bool:
    """Return whether a page has none of the things that take long however small it is."""
    # An encoding with escapes is decoded piece by piece.
    return len(url) <= QUICK_URL_BYTES and _ESCAPE not in markup and not _has_long_tag(markup)


def _has_long_tag(markup: bytes) -> bool:
    """Return whether a tag may be so long that its attributes, each compared with all others, take long."""
    for piece in _long_pieces(markup, QUICK_TAG_BYTES):
        tag = _TAG.search(piece)
        if tag and len(piece) - tag.start() > QUICK_TAG_BYTES:
            return True
    return False


def _tags(markup: bytes) -> int:
    """Tags times opening tags, as no page is nested deeper than it has opening ones; or more, if neither are many."""
    signs = markup.count(b"<")
    # The second count costs most, and is seldom needed.
    return signs**2 if signs**2 <= MANY_TAGS else signs * (signs - markup.count(b"</"))


def _check_depth(markup: bytes) -> None:
    if _tags(markup) <= MANY_TAGS:
        return
    tags = _TAG.findall(markup)
    if len(tags) * _deepest(tags) <= MAX_WORK:
        return
    nesting = Nesting()
    for tag in _TAG_TO_END.finditer(markup):
        if tag[1]:
            nesting.end(tag[2].lower())
        else:
            nesting.begin(tag[2].lower(), tag[0], empty=bool(_SLASH.search(tag[3][-256:])))
        if nesting.work > MAX_WORK:
            raise TooComplex(f"{len(tags)} tags nested {nesting.depth} deep and more")


def _deepest(tags: list[bytes]) -> int:
    """No tag is nested deeper, however badly the tags match each other."""
    steps = {tag: _step(tag) for tag in set(tags)}
    depths = list(accumulate(map(steps.__getitem__, tags), initial=0))
    return max(depths) - min(depths)


def _step(tag: bytes) -> int:
    if tag.lstrip(b"</").lower() in NEVER_DEEP:
        return 0
    return -1 if tag.startswith(b"</") else 1


def _check_attributes(markup: bytes) -> None:
    pieces = _long_pieces(markup, _LONG) if len(markup) <= CAREFUL_BYTES else map(_whole, _WHOLE_TAG.finditer(markup))
    for piece in pieces:
        if len(piece) > _LONG:
            attributes = len(_NAME.findall(_QUOTED.sub(b" ", piece.partition(b"<")[2])))
            if attributes > MAX_ATTRIBUTES:
                raise TooComplex(f"a tag with {attributes} attributes")


def _long_pieces(markup: bytes, long: int) -> Iterator[bytes]:
    """Yield what stands between two ">" and is long; found by leaps, not byte by byte, and blind to a ">" in quotes."""
    at = 0
    while at + long < len(markup):
        end = markup.rfind(b">", at, at + long)
        if end < 0:
            end = markup.find(b">", at + long)
            end = end if end >= 0 else len(markup)
            yield markup[at:end]
        at = end + 1


def _whole(tag: re.Match[bytes]) -> bytes:
    return tag[0]
