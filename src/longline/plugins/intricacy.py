"""Refuses markup that would hold the HTML parser for minutes.

The parser looks through all open elements at many a tag, and through all attributes of a tag at each of them, so a
megabyte of `<div>` costs minutes where a normal page costs milliseconds. Browsers stop nesting at some depth; our
parser does not, so large pages are looked at beforehand.
"""

import re
from collections.abc import Iterator
from itertools import accumulate

from longline.model.errors import LonglineError

HARMLESS_BYTES = 64 * 1024
"""A page of this size cannot cost more than a fraction of a second, whatever it is made of; most are smaller."""

CAREFUL_BYTES = 512 * 1024
"""Beyond this size tags are read to their true end, which costs as much as parsing."""

MAX_WORK = 100_000_000
"""Tags times depth."""

MAX_ATTRIBUTES = 5000
_LONG = 4 * MAX_ATTRIBUTES
"""No tag with more attributes is shorter."""

_TAG = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9:-]*")
_WHOLE_TAG = re.compile(rb"<[a-zA-Z](?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+")
_NAME = re.compile(rb"[^\s/=]+")
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
_NEVER_DEEP = frozenset(
    b"html head body area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd option optgroup tr td th thead tbody tfoot rt rp a".split()
)
"""Tags that end by themselves, so that many of them in a row are not nested."""


class TooIntricate(LonglineError):
    """Markup that is nested too deeply, or has too many attributes, to be parsed in reasonable time."""


def check_intricacy(markup: bytes) -> None:
    """Raise `TooIntricate` for a page that must not be parsed."""
    if len(markup) > HARMLESS_BYTES:
        _check_depth(markup)
        _check_attributes(markup)


def _check_depth(markup: bytes) -> None:
    signs = markup.count(b"<")
    if signs * (signs - markup.count(b"</")) <= MAX_WORK:  # no deeper than there are opening tags
        return
    tags = _TAG.findall(markup)
    depth = max(accumulate(map(_steps(tags).__getitem__, tags), _deeper), default=0)
    if len(tags) * depth > MAX_WORK:
        raise TooIntricate(f"{len(tags)} tags nested up to {depth} deep")


def _steps(tags: list[bytes]) -> dict[bytes, int]:
    steps = {}
    for tag in set(tags):
        name = tag.lstrip(b"</").lower()
        steps[tag] = 0 if name in _NEVER_DEEP else -1 if tag.startswith(b"</") else 1
    return steps


def _deeper(depth: int, step: int) -> int:
    return max(depth + step, 0)


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
