"""The lines of a page with all that Markdown keeps: emphasis, code, links, images, cells, numbers of lists."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from longline.html.article_text.lines import PERMALINKS, Line, LineReader
from longline.html.article_text.tags import HEADING, IMAGE, KINDS, MARK, PREFORMATTED, ROW, kinds_by_id

EMPHASIS, STRONG, DELETED, CODE, LINKED, CELL_START, PICTURE = 1, 2, 4, 8, 16, 32, 64
"""Kinds of spans."""

MAX_LIST_NUMBER = 999_999_999
"""Largest number of a list's item in Markdown."""

MAX_LANGUAGE_LEVELS = 3
"""Elements around and inside of code whose classes may name its language."""

_MARKS = {
    **dict.fromkeys(("em", "i", "cite", "dfn", "var"), EMPHASIS),
    **dict.fromkeys(("strong", "b"), STRONG),
    **dict.fromkeys(("del", "s", "strike"), DELETED),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), CODE),
}
_KINDS_BY_ID = kinds_by_id(KINDS | dict.fromkeys(_MARKS, MARK) | {"img": IMAGE})
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang|language|highlight-source|brush:?)[-\s:]\s*([A-Za-z][\w+#.-]{0,30})")
_PERMALINK = f"{PERMALINKS} \n"
_NUMBER = re.compile(r"\s*(\d{1,9})\s*")


class Span(NamedTuple):
    """A marked part of a line: its first piece, the piece after its last, its kind, and a URL with an image's text."""

    start: int
    end: int
    kind: int
    url: str = ""
    text: str = ""


class MarkedLine(NamedTuple):
    """The pieces of a line, and their spans; spans of one kind do not overlap."""

    pieces: list[str]
    spans: Sequence[Span]


class MarkedLineReader(LineReader):
    """A walk like `LineReader`, which records spans as well. Containers and texts are the same."""

    def __init__(self) -> None:
        super().__init__(_KINDS_BY_ID)
        self.marked: dict[int, MarkedLine] = {}
        """Lines with spans, by their number."""
        self.languages: dict[int, str] = {}
        """Languages of preformatted containers that name one."""
        self.first_numbers: dict[int, int] = {}
        """First numbers of ordered lists that name one."""
        self._spans: list[Span] = []
        self._depths: dict[int, int] = {}
        """Number of open elements of each kind of mark; `_starts` has the first piece of each kind."""
        self._starts: dict[int, int] = {}
        self._href = ""
        self._enter += [self._enter_mark, self._read_image]

    # -- elements by kind -------------------------------------------------------------------------------------------

    def _enter_mark(self, node: LexborNode, tag: str, _: int) -> bool:
        mark = _MARKS[tag]
        self._begin(mark)
        self._open.append((node, MARK, mark, 0))
        return True

    def _read_image(self, node: LexborNode, *_: object) -> bool:
        attributes = node.attributes
        text, url = " ".join((attributes.get("alt") or "").split()), attributes.get("src")
        if text and url and self._kind != PREFORMATTED:
            # The empty piece makes a line of an image that stands alone.
            self._spans.append(Span(len(self._pieces), len(self._pieces) + 1, PICTURE, url, text))
            self._pieces.append("")
        return False

    def _enter_link(self, node: LexborNode, tag: str, kind: int) -> bool:
        if not self._in_link:
            self._href = node.attributes.get("href") or ""
            self._begin(LINKED)
        return super()._enter_link(node, tag, kind)

    def _enter_cell(self, node: LexborNode, tag: str, kind: int) -> bool:
        entered = super()._enter_cell(node, tag, kind)
        if self._kind == ROW:
            self._spans.append(Span(len(self._pieces), len(self._pieces), CELL_START))
        return entered

    def _enter_container(self, node: LexborNode, tag: str, kind: int) -> bool:
        super()._enter_container(node, tag, kind)
        if tag == "pre" and (language := _language_of(node)):
            self.languages[self._container] = language
        elif tag == "ol" and (found := _NUMBER.fullmatch(node.attributes.get("start") or "")):
            self.first_numbers[self._container] = int(found[1])
        return True

    def _leave(self, kind: int, container: int, kind_around: int) -> None:
        if kind == MARK:
            self._finish(container)
        else:
            super()._leave(kind, container, kind_around)

    def _leave_link(self, lines_before: int, pieces_before: int) -> None:
        self._finish(LINKED)
        super()._leave_link(lines_before, pieces_before)

    # -- spans ------------------------------------------------------------------------------------------------------

    def _begin(self, mark: int) -> None:
        if not self._depths.get(mark):
            self._starts[mark] = len(self._pieces)
        self._depths[mark] = self._depths.get(mark, 0) + 1

    def _finish(self, mark: int) -> None:
        self._depths[mark] -= 1
        if not self._depths[mark]:
            self._add_span(mark)

    def _add_span(self, mark: int) -> None:
        start, end = self._starts[mark], len(self._pieces)
        if end > start:
            self._spans.append(Span(start, end, mark, self._href if mark == LINKED else ""))

    def _end_line(self) -> None:
        for mark, depth in self._depths.items():
            if depth:  # an element around several lines
                self._add_span(mark)
                self._starts[mark] = 0
        spans, self._spans = self._spans, []
        pieces, number = self._pieces[:] if spans else [], len(self.page.lines)
        container, kind = self._container, self._kind
        super()._end_line()
        if any(span.kind == PICTURE for span in spans) and len(self.page.lines) == number:
            self.page.lines.append(Line("", 0, container, kind))
        if spans and len(self.page.lines) > number:
            if kind == HEADING:
                pieces = ["" if piece.strip() and not piece.strip(_PERMALINK) else piece for piece in pieces]
            self.marked[number] = MarkedLine(pieces, spans)


def _language_of(node: LexborNode) -> str:
    """Return the language of a `pre`, by a class of its own or of an element near it; an empty text without one."""
    for element in _around_code(node):
        found = _LANGUAGE.search((element.attributes.get("class") or "")[:400])
        if found:
            return found[1].lower()
    return ""


def _around_code(node: LexborNode) -> Iterator[LexborNode]:
    yield node
    inside = node.first_child
    if inside is not None and inside.is_element_node:
        yield inside
    around = node.parent
    for _ in range(MAX_LANGUAGE_LEVELS):
        if around is None or not around.is_element_node or around.tag == "body":
            return
        yield around
        around = around.parent
