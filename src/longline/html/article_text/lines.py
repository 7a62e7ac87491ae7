"""The lines of a page: one read-only walk over its tree, without recursion, in time linear in the nodes.

A line is the text of a block. A container is an element around lines, with a number; its parent has a smaller one.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from longline.html.article_text.attribute_hints import UNKNOWN, hint_of
from longline.html.article_text.tags import (
    BLOCK,
    BREAK,
    CELL,
    HEADING,
    INLINE,
    ITEM,
    KINDS,
    LINK,
    PARAGRAPH,
    PREFORMATTED,
    QUOTE,
    ROW,
    RULE,
    SKIPPED,
    TAGS,
    TEXT_ID,
    kinds_by_id,
)

CELL_SEPARATOR = " | "
LINE_BREAK = "\0"
"""Mark of a `br`, which no text of a page contains: the parser of HTML replaces it."""

PERMALINKS = "¶§🔗"
"""Signs at the end of headings that link to the heading itself."""

_SENTENCES = frozenset((PARAGRAPH, HEADING))
_TAKEN_OVER = frozenset((ITEM, QUOTE, PREFORMATTED))
_TAKING_OVER = frozenset((BLOCK, PARAGRAPH))
"""Kinds of elements that take over the kind around them, if that is in `_TAKEN_OVER`."""

_KINDS_BY_ID = kinds_by_id(KINDS)

_Open = tuple[LexborNode, int, int, int]
"""An element whose children are being read: its node and kind, and the container and the kind around it.

Of a link the last two are the numbers of lines and of pieces before it. A plain tuple, as one is made for each element.
"""

_Enter = Callable[[LexborNode, str, int], bool]
"""A method for an element of some kind: node, tag and kind; it returns whether the children are read."""


class Line(NamedTuple):
    """The text of a block, the number of its characters inside links, its container, and its kind."""

    text: str
    linked: int
    container: int
    kind: int


class PageLines:
    """Lines of a page in document order, and its containers: parent, tag and hint of each. Container 0 is the body."""

    __slots__ = ("hints", "lines", "parents", "tags")

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.parents, self.tags, self.hints = [-1], ["body"], [UNKNOWN]


class LineReader:
    """A walk over the elements of a page, which collects lines and containers."""

    def __init__(self, kinds: Mapping[int, int] = _KINDS_BY_ID) -> None:
        self.page = PageLines()
        self._kinds = kinds
        self._pieces: list[str] = []
        """Texts of the line that is being read; `_linked` is the number of their characters inside links."""
        self._linked = 0
        self._in_link = False
        self._container, self._kind = 0, BLOCK
        self._open: list[_Open] = []
        special: dict[int, _Enter] = {
            LINK: self._enter_link,
            BREAK: self._break_line,
            RULE: self._break_block,
            CELL: self._enter_cell,
        }
        self._enter = [special.get(kind, self._enter_container) for kind in range(QUOTE + 1)]

    def read(self, body: LexborNode) -> PageLines:
        """Return the lines and containers below an element."""
        # Texts and inline elements are read here and not in methods: a page has hundreds of them.
        node, pieces, around, kinds, enter = body.first_child, self._pieces, self._open, self._kinds, self._enter
        tags = TAGS
        while node is not None or around:
            if node is None:
                node, kind, container, kind_around = around.pop()
                if kind != INLINE:
                    self._leave(kind, container, kind_around)
            elif (tag_id := node.tag_id) == TEXT_ID:
                text = node.text_content or ""
                # Most texts are the white space between two blocks.
                if pieces or not text.isspace() or self._kind == PREFORMATTED:
                    pieces.append(text)
            elif (kind := kinds[tag_id] if tag_id in kinds else self._kind_of_unknown(node)) == INLINE:
                around.append((node, INLINE, 0, 0))
                node = node.first_child
                continue
            elif kind != SKIPPED and enter[kind](node, tags.get(tag_id) or node.tag or "", kind):
                node = node.first_child
                continue
            node = node.next
        self._end_line()
        return self.page

    def _kind_of_unknown(self, node: LexborNode) -> int:
        if not node.is_element_node:
            return SKIPPED
        return INLINE if self._kind in _SENTENCES else BLOCK

    # -- elements by kind -------------------------------------------------------------------------------------------

    def _enter_link(self, node: LexborNode, _: str, __: int) -> bool:
        if self._in_link:
            self._open.append((node, INLINE, 0, 0))
        else:
            self._in_link = True
            self._open.append((node, LINK, len(self.page.lines), len(self._pieces)))
        return True

    def _break_line(self, *_: object) -> bool:
        if self._pieces:
            self._pieces.append("\n" if self._kind == PREFORMATTED else LINE_BREAK)
        return False

    def _break_block(self, *_: object) -> bool:
        self._end_line()
        return False

    def _enter_cell(self, node: LexborNode, tag: str, kind: int) -> bool:
        if self._kind != ROW:
            return self._enter_container(node, tag, kind)
        if self._pieces:
            self._pieces.append(CELL_SEPARATOR)
        self._open.append((node, INLINE, 0, 0))
        return True

    def _enter_container(self, node: LexborNode, tag: str, kind: int) -> bool:
        if self._pieces:
            self._end_line()
        around, page = self._kind, self.page
        self._open.append((node, kind, self._container, around))
        page.parents.append(self._container)
        page.tags.append(tag)
        page.hints.append(hint_of(tag, node.attributes))
        self._container = len(page.parents) - 1
        if around not in _TAKEN_OVER or kind not in _TAKING_OVER:
            self._kind = kind
        return True

    def _leave(self, kind: int, container: int, kind_around: int) -> None:
        """End an element."""
        if kind == LINK:
            self._leave_link(container, kind_around)
        else:
            if self._pieces:
                self._end_line()
            self._container, self._kind = container, kind_around

    def _leave_link(self, lines_before: int, pieces_before: int) -> None:
        self._in_link = False
        lines = self.page.lines
        if len(lines) == lines_before:
            self._linked += sum(map(len, self._pieces[pieces_before:]))
            return
        # Everything inside a link around blocks is link text.
        for at in range(lines_before, len(lines)):
            text, _, container, kind = lines[at]
            lines[at] = Line(text, len(text), container, kind)
        self._linked = sum(map(len, self._pieces))

    # -- lines ------------------------------------------------------------------------------------------------------

    def _end_line(self) -> None:
        """End the line that is being read."""
        text = text_of(self._pieces, self._kind)
        self._pieces.clear()
        if text:
            self.page.lines.append(Line(text, self._linked, self._container, self._kind))
        self._linked = 0


def text_of(pieces: list[str], kind: int) -> str:
    """Return the text of a line of that kind, without runs of spaces; a `br` breaks the line."""
    text = "".join(pieces)
    if not text.isascii():  # soft hyphens and zero-width spaces
        text = text.replace("\xad", "").replace("\u200b", "")
    if kind == PREFORMATTED:
        return text.strip("\n").rstrip()
    if LINE_BREAK in text:
        return "\n".join(line for part in text.split(LINE_BREAK) if (line := " ".join(part.split())))
    text = " ".join(text.split())
    return text.rstrip(PERMALINKS).rstrip() if kind == HEADING else text
