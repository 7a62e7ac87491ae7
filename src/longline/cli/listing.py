"""Lists on standard output: tables for a person at a terminal, plain lines for programs.

Every command that lists rows prints them here. A terminal gets a table; columns that a person copies, such as URLs and
ids, are never cut or broken. A pipe or a file gets a line for each row: whole values, separated by tabs, no header.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

MIN_WIDTH = 12
"""Smallest width of a column that may be broken over several lines."""

_PADDING = 2
"""Spaces around a cell."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Cell = str | Text


class Column(NamedTuple):
    """A column of a list. The values of a `copied` column stay whole on one line; `right` aligns numbers."""

    title: str
    copied: bool = False
    right: bool = False


class OutputConsole(Console):
    """The console of every command: a reader of the output that has gone, as `head` goes, ends the command quietly.

    It raises `BrokenPipeError` where rich would end the process with exit code 1. It prints texts such as `:100:`,
    which stand in URLs and in places of errors, as they are, and not as the emoji of that name. Control characters of
    crawled pages do not reach the terminal, which would obey them.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, emoji=False)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a text or table, without the control characters of its values."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=without_controls(segment.text))


class Listing:
    """The rows of one list, in the form that the console asks for."""

    def __init__(self, *columns: str | Column, console: Console | None = None, boxed: bool = False) -> None:
        self._columns = [Column(column) if isinstance(column, str) else column for column in columns]
        self._console, self._boxed = console or OutputConsole(), boxed
        self._rows: list[list[Text]] = []
        self._sections: set[int] = set()
        self.count = 0

    @property
    def is_table(self) -> bool:
        """Return whether rows are printed as a table, which needs all of them first."""
        return self._console.is_terminal

    def add(self, *cells: Cell) -> None:
        """Add a row; off a terminal its line is printed at once."""
        texts = [Text(cell) if isinstance(cell, str) else cell for cell in cells]
        self.count += 1
        if self.is_table:
            self._rows.append(texts)
        else:
            # Not by the console, which makes spaces of tabs.
            self._console.file.write("\t".join(map(_plain, texts)) + "\n")

    def add_section(self) -> None:
        """Draw a line below the last row of a table."""
        self._sections.add(len(self._rows) - 1)

    def print(self, title: str = "") -> None:
        """Print the table with its title; lines were printed when they came."""
        if not self.is_table or not self._rows:
            return
        # The terminal breaks lines that are too long by itself, and copies them as one.
        width = max(self._console.width, self._narrowest())
        options = self._console.options.update(width=width, height=None)
        for segments in self._console.render_lines(self._table(title), options, pad=False):
            line = Text.assemble(*((segment.text, segment.style or "") for segment in segments))
            line.rstrip()
            self._console.print(line, soft_wrap=True, highlight=False)

    def note(self, text: Cell) -> None:
        """Print a sentence about the list: below a table, and on standard error beside lines for a program."""
        console = self._console if self.is_table else OutputConsole(stderr=True)
        console.print(text, soft_wrap=True, highlight=False, markup=False)

    def _table(self, title: str) -> Table:
        table = Table(title=title or None, title_justify="left", padding=(0, _PADDING // 2), pad_edge=self._boxed)
        if not self._boxed:
            table.box = None
        for column in self._columns:
            table.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=column.copied,
                overflow="ignore" if column.copied else "fold",
            )
        for at, row in enumerate(self._rows):
            table.add_row(*row, end_section=at in self._sections)
        return table

    def _narrowest(self) -> int:
        """Return the width of the table with copied columns whole and the others as narrow as they may be."""
        widths = []
        for at, column in enumerate(self._columns):
            longest = max(_width(row[at]) for row in self._rows)
            widths.append(max(cell_len(column.title), longest if column.copied else min(longest, MIN_WIDTH)))
        return sum(widths) + _PADDING * (len(widths) - 1)


def _width(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


def _plain(text: Text) -> str:
    """Return a value on one line, without the tab that separates values."""
    return " ".join(without_controls(text.plain).split())


def without_controls(text: str) -> str:
    """Return a text of a crawled page without control characters; tabs and line feeds stay."""
    return _CONTROLS.sub("", text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun and verb, as in "1 item is" and "2 items are"."""
    return f"1 {noun} is" if number == 1 else f"{number:,} {noun}s are"
