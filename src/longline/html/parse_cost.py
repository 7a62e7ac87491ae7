"""Estimates of the cost of parsing a page; markup that would occupy the HTML parser for minutes is refused.

The parser searches all open elements at many tags, and all attributes of a tag at each attribute, so a megabyte of
`<div>` costs minutes and a normal page milliseconds. Browsers limit the nesting depth; Lexbor does not, so large pages
are checked beforehand. The check is quick and can be misled by tags inside of scripts and comments, so `WILD` pages
get a deadline as well.
"""

import re
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate

from longline.html.nesting import NEVER_NESTED, Nesting
from longline.model.errors import LonglineError

MAX_HARMLESS_BYTES = 64 * 1024
"""Size up to which any page costs at most two seconds; most pages are smaller."""

MAX_QUICK_BYTES = 256 * 1024
MAX_QUICK_TAG_PRODUCT = 20_000_000
MAX_QUICK_TAG_BYTES = 4096
MAX_QUICK_URL_BYTES = 1024
"""Bounds within which any page takes some milliseconds, 14 at the worst; a thread would cost about as much.

The bounds: size, tags times opening tags, longest tag, and the URL, to which links are relative. A tree that another
thread has built is not in the cache of the processor that reads it: reading it then takes three times as long.
"""

MAX_THREAD_BYTES = 1024 * 1024
MAX_THREAD_TAG_PRODUCT = 100_000_000
"""Bounds within which a page takes half a second at most, for which a thread may wait.

The bounds: size, and tags times opening tags.
"""

MIN_EXACT_TAGS_BYTES = 512 * 1024
"""Size above which each tag is read to its true end, which costs as much as parsing."""

MAX_UNCHECKED_TAG_PRODUCT = 100_000_000
"""Tags times opening tags up to which no nesting takes long."""

MIN_DEADLINE_TAG_PRODUCT = 10 * MAX_UNCHECKED_TAG_PRODUCT
"""Tags times opening tags above which a page gets a deadline; with fewer, a thread may wait for the parser."""

MAX_WORK = 50_000_000
"""Most open elements that the parser may look at, over all tags."""

MAX_ATTRIBUTES = 5000
_LONG_TAG_BYTES = 4 * MAX_ATTRIBUTES
"""Bytes that a tag with more than `MAX_ATTRIBUTES` attributes has at least."""

_ESCAPE = b"\x1b"
_TAG = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9:-]*")
_TAG_TO_END = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)((?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+)")
_SLASH = re.compile(rb"(?:^|[\s\"']|\s[^\s=]+)/$")
"""A slash that ends an element, as opposed to a slash at the end of an unquoted value."""

_WHOLE_TAG = re.compile(rb"<[a-zA-Z](?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+")
_NAME = re.compile(rb"[^\s/=]+")
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")


class TooComplex(LonglineError):
    """An error for markup that is nested too deeply, or has too many attributes, to be parsed in reasonable time."""


class ParseCost(Enum):
    """Time that parsing a page may take.

    A few milliseconds, half a second, longer, or so long that a deadline is needed.
    """

    LITTLE = 0
    SOME = 1
    MUCH = 2
    WILD = 3


def check_parse_cost(markup: bytes, estimate: ParseCost | None = None) -> None:
    """Raise `TooComplex` for a page that must not be parsed; `estimate` is its `parse_cost_of`, if known."""
    # The estimate has counted the same tags, and measured them in the same way up to this size.
    passed = estimate in (ParseCost.LITTLE, ParseCost.SOME) and len(markup) <= MIN_EXACT_TAGS_BYTES
    if len(markup) > MAX_HARMLESS_BYTES and not passed:
        _check_depth(markup)
        _check_attributes(markup)


def parse_cost_of(markup: bytes, url: str = "") -> ParseCost:
    """Return the estimated cost of parsing a page."""
    tags = _estimated_tags(markup)
    if len(markup) <= MAX_THREAD_BYTES and tags <= MAX_THREAD_TAG_PRODUCT and _is_ordinary(markup, url):
        return ParseCost.SOME if tags > MAX_QUICK_TAG_PRODUCT or len(markup) > MAX_QUICK_BYTES else ParseCost.LITTLE
    return ParseCost.WILD if tags > MIN_DEADLINE_TAG_PRODUCT else ParseCost.MUCH


def _estimated_tags(markup: bytes) -> int:
    """Return tags times opening tags, or the square of all tags where no limit lies between the two.

    Counting the closing tags costs twice as much as counting all tags. They are at most half of the tags; on a page
    with stray closing tags the estimate is too high, which costs a thread or a process.
    """
    signs = markup.count(b"<")
    square = signs**2
    for limit in (MAX_QUICK_TAG_PRODUCT, MAX_THREAD_TAG_PRODUCT, MIN_DEADLINE_TAG_PRODUCT):
        if limit < square <= 2 * limit:
            return signs * (signs - markup.count(b"</"))
    return square


def _is_ordinary(markup: bytes, url: str) -> bool:
    """Return whether a page lacks the features that take long at any size."""
    # An encoding with escape sequences is decoded piece by piece.
    return len(url) <= MAX_QUICK_URL_BYTES and _ESCAPE not in markup and not _has_long_tag(markup)


def _has_long_tag(markup: bytes) -> bool:
    """Return whether a tag may be so long that its attributes, each compared with all others, take long."""
    for piece in _long_pieces(markup, MAX_QUICK_TAG_BYTES):
        tag = _TAG.search(piece)
        if tag and len(piece) - tag.start() > MAX_QUICK_TAG_BYTES:
            return True
    return False


def _tags(markup: bytes) -> int:
    """Return tags times opening tags, an upper bound of the nesting work; for few tags the square of all tags."""
    signs = markup.count(b"<")
    # The second count costs most, and is rarely needed.
    return signs**2 if signs**2 <= MAX_UNCHECKED_TAG_PRODUCT else signs * (signs - markup.count(b"</"))


def _check_depth(markup: bytes) -> None:
    if _tags(markup) <= MAX_UNCHECKED_TAG_PRODUCT:
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
    """Return an upper bound of the nesting depth, valid for badly matched tags too."""
    steps = {tag: _step(tag) for tag in set(tags)}
    depths = list(accumulate(map(steps.__getitem__, tags), initial=0))
    return max(depths) - min(depths)


def _step(tag: bytes) -> int:
    if tag.lstrip(b"</").lower() in NEVER_NESTED:
        return 0
    return -1 if tag.startswith(b"</") else 1


def _check_attributes(markup: bytes) -> None:
    pieces = (
        _long_pieces(markup, _LONG_TAG_BYTES)
        if len(markup) <= MIN_EXACT_TAGS_BYTES
        else map(_whole, _WHOLE_TAG.finditer(markup))
    )
    for piece in pieces:
        # Only a letter after "<" begins a tag: scripts begin with "<![CDATA[" on many pages.
        if len(piece) > _LONG_TAG_BYTES and (tag := _TAG.search(piece)):
            attributes = len(_NAME.findall(_QUOTED.sub(b" ", piece[tag.start() + 1 :])))
            if attributes > MAX_ATTRIBUTES:
                raise TooComplex(f"a tag with {attributes} attributes")


def _long_pieces(markup: bytes, long: int) -> Iterator[bytes]:
    """Yield each text longer than `long` between two ">"; searches in leaps, and does not recognise a ">" in quotes."""
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
