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
from longline.plugins.nesting import NEVER_DEEP, Nesting

HARMLESS_BYTES = 64 * 1024
"""A page of this size cannot cost more than a fraction of a second, whatever it is made of; most are smaller."""

QUICK_BYTES = 256 * 1024
"""A page of this size without very many tags takes two milliseconds; a thread would cost about as much."""

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

_TAG = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9:-]*")
_TAG_TO_END = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)")
_SLASH = re.compile(rb"(?:^|[\s\"']|\s[^\s=]+)/$")
"""A slash that ends an element: not one at the end of a value without quotes."""

_WHOLE_TAG = re.compile(rb"<[a-zA-Z](?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+")
_NAME = re.compile(rb"[^\s/=]+")
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")


class TooIntricate(LonglineError):
    """Markup that is nested too deeply, or has too many attributes, to be parsed in reasonable time."""


class Effort(Enum):
    """How long it may take to parse a page: a few milliseconds, longer, or so long that there must be a deadline."""

    LITTLE = 0
    MUCH = 1
    WILD = 2


def check_intricacy(markup: bytes) -> None:
    """Raise `TooIntricate` for a page that must not be parsed."""
    if len(markup) > HARMLESS_BYTES:
        _check_depth(markup)
        _check_attributes(markup)


def effort_of(markup: bytes) -> Effort:
    """What a page asks for, before it is parsed."""
    if len(markup) <= HARMLESS_BYTES:
        return Effort.LITTLE
    tags = _tags(markup)
    if tags > WILD_TAGS:
        return Effort.WILD
    return Effort.LITTLE if len(markup) <= QUICK_BYTES and tags <= MANY_TAGS else Effort.MUCH


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
            raise TooIntricate(f"{len(tags)} tags nested {nesting.depth} deep and more")


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
    pieces = _long_pieces(markup) if len(markup) <= CAREFUL_BYTES else map(_whole, _WHOLE_TAG.finditer(markup))
    for piece in pieces:
        if len(piece) > _LONG:
            attributes = len(_NAME.findall(_QUOTED.sub(b" ", piece.partition(b"<")[2])))
            if attributes > MAX_ATTRIBUTES:
                raise TooIntricate(f"a tag with {attributes} attributes")


def _long_pieces(markup: bytes) -> Iterator[bytes]:
    """What stands between two ">" and is long; found by leaps, not byte by byte, and blind to a ">" in quotes."""
    at = 0
    while at + _LONG < len(markup):
        end = markup.rfind(b">", at, at + _LONG)
        if end < 0:
            end = markup.find(b">", at + _LONG)
            end = end if end >= 0 else len(markup)
            yield markup[at:end]
        at = end + 1


def _whole(tag: re.Match[bytes]) -> bytes:
    return tag[0]
