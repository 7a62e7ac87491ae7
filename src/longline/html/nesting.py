"""Nesting depth of elements, tag by tag, approximately as an HTML parser builds it.

An end tag closes all elements left open inside its element, but not across a block element. Formatting elements such
as `b` are reconstructed after an implied end, so only their own end tag closes them. A slash ends an element in SVG
and MathML, and nowhere else.
"""

from collections import Counter

_VOID = frozenset(b"html head body area base br col embed hr img input link meta param source track wbr a".split())
_IMPLICITLY_CLOSED = {name: name for name in b"p li dd option optgroup tr td tbody rt".split()} | {
    b"dt": b"dd",
    b"th": b"td",
    b"thead": b"tbody",
    b"tfoot": b"tbody",
    b"rp": b"rt",
}
"""Elements that the next start tag of the same kind closes, with the kind."""

NEVER_NESTED = _VOID | _IMPLICITLY_CLOSED.keys()
"""Elements that are void or closed implicitly, so that many of them in a row are not nested."""

_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_BLOCKS = frozenset(
    b"address applet article aside blockquote button caption center details dir div dl fieldset figcaption figure "
    b"footer form frameset h1 h2 h3 h4 h5 h6 header hgroup iframe listing main marquee menu nav noembed noframes "
    b"noscript object ol plaintext pre script search section select style summary table template textarea title ul "
    b"xmp".split()
)
_SEARCHES_OPEN_ELEMENTS = _BLOCKS | NEVER_NESTED | _FORMATTING
"""Tags at which the parser searches the open elements; other tags only push an element."""

_FOREIGN = frozenset((b"svg", b"math"))
_INTEGRATION_POINTS = frozenset(b"foreignobject desc title annotation-xml mi mo mn ms mtext".split())
_BREAK_OUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu "
    b"meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)


_RECONSTRUCTION_COST = 30
"""Cost of reconstructing a formatting element, relative to the cost of looking at an open element."""

_MAX_EQUAL_FORMATTING = 3
"""Most equal formatting elements that are reconstructed; the standard drops earlier ones."""


class Nesting:
    """The stack of open elements, and the work of searching it so far."""

    def __init__(self) -> None:
        self.work = 0
        self._open: list[tuple[bytes, bool]] = []
        self._places: dict[bytes, list[int]] = {}
        self._blocks: list[int] = []
        self._formatting: dict[bytes, list[bytes]] = {}
        self._alike: Counter[bytes] = Counter()
        self._anew = 0
        self._begun: dict[bytes, int] = {}

    @property
    def depth(self) -> int:
        """Return the number of open elements."""
        return len(self._open) + self._anew

    def begin(self, name: bytes, tag: bytes, *, empty: bool) -> None:
        """Process a start tag; `tag` is the whole tag, since tags with different attributes are not alike."""
        if self._is_foreign(name):
            if not empty:
                self._push(name, foreign=True)
            return
        while name in _BREAK_OUT and self._in_foreign:
            self._pop()
        if name in _SEARCHES_OPEN_ELEMENTS:
            self.work += len(self._open) + _RECONSTRUCTION_COST * self._anew
        if name in _FORMATTING and self._alike[tag] < _MAX_EQUAL_FORMATTING:
            self._alike[tag] += 1
            self._formatting.setdefault(name, []).append(tag)
            self._anew += 1
        if name in _IMPLICITLY_CLOSED:
            self._replace(_IMPLICITLY_CLOSED[name])
        elif name not in _VOID:
            self._push(name, foreign=False)

    def end(self, name: bytes) -> None:
        """Process an end tag."""
        if formatting := self._formatting.get(name):
            self.work += self.depth
            self._alike[formatting.pop()] -= 1
            self._anew -= 1
        places, block = self._places.get(name), self._blocks[-1] if self._blocks else -1
        if places:
            self.work += len(self._open) - places[-1]
            if name in _BLOCKS or places[-1] > block:
                self._pop_to(places[-1])
        else:
            self.work += len(self._open) - block
            if name in _IMPLICITLY_CLOSED:
                self._replace(_IMPLICITLY_CLOSED[name])

    def _replace(self, kind: bytes) -> None:
        """Close the open paragraph, list item or cell of this kind and all elements left open in it."""
        begun = self._begun.get(kind, -1)
        if begun > (self._blocks[-1] if self._blocks else -1):
            self._pop_to(begun)
        self._begun[kind] = len(self._open)

    @property
    def _in_foreign(self) -> bool:
        return bool(self._open) and self._open[-1][1] and self._open[-1][0] not in _INTEGRATION_POINTS

    def _is_foreign(self, name: bytes) -> bool:
        return name in _FOREIGN or (self._in_foreign and name not in _BREAK_OUT)

    def _pop_to(self, length: int) -> None:
        while len(self._open) > length:
            self._pop()

    def _push(self, name: bytes, *, foreign: bool) -> None:
        if name in _BLOCKS and not foreign:
            self._blocks.append(len(self._open))
        self._places.setdefault(name, []).append(len(self._open))
        self._open.append((name, foreign))

    def _pop(self) -> None:
        name, _ = self._open.pop()
        self._places[name].pop()
        if self._blocks and self._blocks[-1] == len(self._open):
            self._blocks.pop()
