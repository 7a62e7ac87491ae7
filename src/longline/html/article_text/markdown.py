"""Markdown of an article: headings, paragraphs, nested lists, quotations, code and tables."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

from longline.html.article_text.inline_markdown import HARD_BREAK, InlineWriter, escape, escape_line_starts
from longline.html.article_text.lines import CELL_SEPARATOR, Line
from longline.html.article_text.marked_lines import MAX_LIST_NUMBER, MarkedLineReader
from longline.html.article_text.selection import Selection
from longline.html.article_text.tags import HEADING, PREFORMATTED, ROW

MAX_NESTING = 12
"""Lists and quotations inside one another that are kept; deeper ones are written at this depth."""

_FENCES = re.compile(r"^ *(`{3,})", re.MULTILINE)
_Path = tuple[int, ...]


class _Block(NamedTuple):
    """A block of Markdown, and the items of lists and the quotations around it, from the outermost."""

    path: _Path
    text: str


def markdown_of_lines(text: str, title: str = "") -> str:
    """Return a plain text as Markdown, a paragraph for each line, without the title if it is the first line."""
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and lines[0].strip() == title:
        del lines[0]
    return "\n\n".join(escape_line_starts(escape(line)) for line in lines)


def markdown_of_title(title: str) -> str:
    """Return a title as the first heading."""
    return f"# {_heading_text(escape(title))}"


def markdown_of_article(reader: MarkedLineReader, selection: Selection, writer: InlineWriter) -> str:
    """Return the selected lines of a page."""
    blocks = _Blocks(reader, writer)
    layout = _Layout(reader)
    for block in blocks.of(selection):
        layout.add(block)
    return "\n".join(layout.lines)


class _Blocks:
    """The blocks of an article, made of its lines."""

    def __init__(self, reader: MarkedLineReader, writer: InlineWriter) -> None:
        self._reader, self._page, self._writer = reader, reader.page, writer
        self._paths: list[_Path] = [()]
        self._tables = [-1]
        for container in range(1, len(self._page.parents)):
            parent, tag = self._page.parents[container], self._page.tags[container]
            path = self._paths[parent]
            inside = tag in ("li", "blockquote") and len(path) < MAX_NESTING
            self._paths.append((*path, container) if inside else path)
            self._tables.append(container if tag == "table" else self._tables[parent])

    def of(self, selection: Selection) -> Iterator[_Block]:
        """Yield the blocks of a selection; items and quotations around the whole article are left out."""
        outside = len(self._paths[selection.container])
        for table, numbers in groupby(selection.lines, key=self._table_of):
            for path, text in self._table(list(numbers)) if table >= 0 else self._texts(numbers):
                if text:
                    yield _Block(path[outside:], text)

    def _table_of(self, number: int) -> int:
        line = self._page.lines[number]
        return self._tables[line.container] if line.kind == ROW else -1

    def _texts(self, numbers: Iterator[int]) -> Iterator[_Block]:
        for number in numbers:
            line = self._page.lines[number]
            yield _Block(self._paths[line.container], self._text(number, line))

    def _text(self, number: int, line: Line) -> str:
        if line.kind == PREFORMATTED:
            return self._code(line)
        if line.kind == HEADING:
            level = int(self._page.tags[line.container][1:])
            return f"{'#' * level} {_heading_text(self._inline(number, ' '))}"
        text = escape_line_starts(self._inline(number))
        is_term = self._page.tags[line.container] == "dt" and number not in self._reader.marked and "\n" not in text
        return f"**{text}**" if is_term else text

    def _inline(self, number: int, line_break: str = HARD_BREAK) -> str:
        marked = self._reader.marked.get(number)
        if marked is not None:
            return self._writer.line(marked, line_break)
        return line_break.join(map(escape, self._page.lines[number].text.split("\n")))

    def _code(self, line: Line) -> str:
        longest = max(map(len, _FENCES.findall(line.text)), default=2)
        fence, language = "`" * (longest + 1), self._reader.languages.get(line.container, "")
        return f"{fence}{language}\n{line.text}\n{fence}"

    def _table(self, numbers: list[int]) -> Iterator[_Block]:
        """Yield a table; rows of a single cell are paragraphs."""
        rows = [self._cells(number) for number in numbers]
        path = self._paths[self._page.lines[numbers[0]].container]
        columns = max(map(len, rows))
        if columns < 2:
            yield from (_Block(path, escape_line_starts(cell)) for row in rows for cell in row)
            return
        padded = [row + [""] * (columns - len(row)) for row in rows]
        lines = [_row(padded[0]), _row(["---"] * columns), *map(_row, padded[1:])]
        yield _Block(path, "\n".join(lines))

    def _cells(self, number: int) -> list[str]:
        marked = self._reader.marked.get(number)
        if marked is None:
            return [escape(self._page.lines[number].text)]
        return self._writer.cells(marked, CELL_SEPARATOR)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _heading_text(text: str) -> str:
    rest = text.rstrip("#")
    return f"{rest}\\{text[len(rest) :]}" if len(rest) < len(text) else text


class _Layout:
    """The lines of the written blocks, with the marks and the indentation of lists and quotations."""

    def __init__(self, reader: MarkedLineReader) -> None:
        self._reader, self._page = reader, reader.page
        self.lines: list[str] = []
        self._path: _Path = ()
        self._indents: dict[int, str] = {}
        """Start of the further lines of each open item or quotation."""
        self._next_numbers: dict[int, int] = {}
        self._signs: dict[int, str] = {}

    def add(self, block: _Block) -> None:
        """Write a block below the last one."""
        common = _common_length(self._path, block.path)
        around = "".join(self._indents[container] for container in block.path[:common])
        start = around + "".join(self._open(container, common) for container in block.path[common:])
        if self.lines and not self._is_tight(block.path, common):
            self.lines.append(around.rstrip())
        rest = "".join(self._indents[container] for container in block.path)
        first, *others = block.text.split("\n")
        self.lines.append((start + first).rstrip())
        self.lines.extend((rest + line).rstrip() if line.strip() else rest.rstrip() for line in others)
        self._path = block.path

    def _open(self, container: int, common: int) -> str:
        """Return the sign that begins an item or a quotation."""
        if self._page.tags[container] == "blockquote":
            self._indents[container] = "> "
            return "> "
        of = self._page.parents[container]
        sign = self._sign(of, common)
        if self._page.tags[of] == "ol":
            number = self._next_numbers.get(of, self._reader.first_numbers.get(of, 1))
            self._next_numbers[of] = min(number + 1, MAX_LIST_NUMBER)
            sign = f"{number}{sign}"
        self._indents[container] = " " * (len(sign) + 1)
        return f"{sign} "

    def _sign(self, of: int, common: int) -> str:
        """Return the sign of a list's items; a list right below another one gets another sign, else they were one."""
        signs = (".", ")") if self._page.tags[of] == "ol" else ("-", "*")
        if of not in self._signs:
            before = self._list_before(common)
            self._signs[of] = signs[1] if before is not None and self._signs.get(before) == signs[0] else signs[0]
        return self._signs[of]

    def _list_before(self, common: int) -> int | None:
        item = self._path[common] if common < len(self._path) else None
        return self._page.parents[item] if item is not None else None

    def _is_tight(self, path: _Path, common: int) -> bool:
        """Return whether a block follows without an empty line, as the items of a list and of a list inside do."""
        if common == len(path) or self._page.tags[path[common]] != "li":
            return False
        of = self._page.parents[path[common]]
        if self._list_before(common) is not None:
            return self._list_before(common) == of
        # A list that begins with another number than 1 does not end the paragraph above it.
        is_inner = common > 0 and self._page.tags[path[common - 1]] == "li"
        return is_inner and (self._page.tags[of] != "ol" or self._reader.first_numbers.get(of, 1) == 1)


def _common_length(one: _Path, other: _Path) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
