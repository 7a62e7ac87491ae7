"""Markdown of a line: escaped text with emphasis, code, links and images, by the rules of CommonMark."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from longline.html.article_text.lines import LINE_BREAK
from longline.html.article_text.marked_lines import (
    CELL_START,
    CODE,
    DELETED,
    EMPHASIS,
    LINKED,
    PICTURE,
    STRONG,
    MarkedLine,
)
from longline.model.urls.link_resolution import join

MAX_URL_CHARS = 2000
"""Characters of a URL above which a link is written as its text, and an image as its description."""

MAX_ALL_URLS_CHARS = 4 * 1024 * 1024
"""Characters of all URLs of an article: with a long base every short link is a long URL."""

HARD_BREAK = "\\\n"
_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,40};)")
_LINE_START = re.compile(r"^(?=[#+\-=>|:])|(?<=^\d)(?=[.)])|(?<=^\d\d)(?=[.)])", re.MULTILINE)
_LONG_NUMBER = re.compile(r"^(\d{3,9})(?=[.)])", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")
_NOT_IN_URLS = re.compile(r"[\s\\`<>|\"^{}\x00-\x1f\x7f]")
_ESCAPED_IN_URLS = re.compile(r"[()]|&(?=#?\w{1,40};)")
_SAFE_FRAGMENT = re.compile(r"[\w!$'*+,;=:@/?%.~-]{1,200}")
_RUNS_OF_SPACES = re.compile(r" {2,}")


class UrlResolver:
    """A resolver of links and images of a page, with a bound on the length of all URLs."""

    def __init__(self, base: str) -> None:
        self._base, self._left = base, MAX_ALL_URLS_CHARS

    def destination(self, href: str) -> str | None:
        """Return an absolute URL as the destination of a link; None for a link inside the page or to no web page."""
        path, _, fragment = href.strip().partition("#")
        url = join(self._base, path) if path else None
        if url is None or len(url) > min(MAX_URL_CHARS, self._left):
            return None
        self._left -= len(url)
        if fragment and _SAFE_FRAGMENT.fullmatch(fragment):
            url = f"{url}#{fragment}"
        return _ESCAPED_IN_URLS.sub(r"\\\g<0>", _NOT_IN_URLS.sub(_percent_encoded, url))


def _percent_encoded(found: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in found[0].encode())


def escape(text: str) -> str:
    """Return a text of which Markdown reads nothing as markup, except at the start of a line."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escape_line_starts(markdown: str) -> str:
    """Return a paragraph whose lines begin no heading, list, quotation, rule or table."""
    return _LONG_NUMBER.sub(r"\1\\", _LINE_START.sub(r"\\", markdown))


class _Run(NamedTuple):
    """Pieces with the same marks and the same link; a picture is a run without marks that is Markdown already."""

    text: str
    marks: int
    href: str
    is_picture: bool = False


class InlineWriter:
    """A writer of lines of one page."""

    def __init__(self, urls: UrlResolver) -> None:
        self._urls = urls

    def line(self, marked: MarkedLine, line_break: str = HARD_BREAK) -> str:
        """Return a line with its marks."""
        return self._written(marked, 0, len(marked.pieces), line_break)

    def cells(self, marked: MarkedLine, separator: str) -> list[str]:
        """Return the cells of a table's row; `separator` is the piece between two cells."""
        starts = [span.start for span in marked.spans if span.kind == CELL_START]
        if not starts or starts[0]:  # a block inside a cell splits its row
            starts.insert(0, 0)
        cells = []
        for start, next_start in zip(starts, [*starts[1:], len(marked.pieces)], strict=True):
            end = next_start - 1 if next_start > start and marked.pieces[next_start - 1] == separator else next_start
            cells.append(self._written(marked, start, end, " "))
        return cells

    def _written(self, marked: MarkedLine, start: int, end: int, line_break: str) -> str:
        runs = list(self._runs(marked, start, end))
        lines, current = [], list[_Run]()
        for run in [*runs, _Run(LINE_BREAK, 0, "")]:
            if run.text == LINE_BREAK:
                lines.append(self._line_of(current))
                current = []
            else:
                current.append(run)
        return line_break.join(line for line in lines if line)

    def _runs(self, marked: MarkedLine, start: int, end: int) -> Iterator[_Run]:
        """Yield the runs of some pieces; white space between two pieces belongs to the first."""
        marks, hrefs, pictures = _spread(marked)
        run: _Run | None = None
        for at in range(start, end):
            piece = marked.pieces[at]
            if at in pictures:
                made = self._picture(*pictures[at])
                if run is not None:
                    yield run
                run = None
                if made:
                    yield _Run(made, 0, hrefs[at], is_picture=True)
            elif piece == LINE_BREAK:
                if run is not None:
                    yield run
                run = None
                yield _Run(LINE_BREAK, 0, "")
            elif run is not None and _goes_on(run, piece, marks[at], hrefs[at]):
                common = run.marks & marks[at] if run.marks & CODE else run.marks
                run = run._replace(text=run.text + piece, marks=common)
            else:
                if run is not None:
                    yield run
                run = _Run(piece, marks[at], hrefs[at])
        if run is not None:
            yield run

    def _picture(self, src: str, text: str) -> str:
        url = self._urls.destination(src)
        return f"![{escape(text)}]({url})" if url else ""

    def _line_of(self, runs: Sequence[_Run]) -> str:
        parts: list[str] = []
        groups = [(href, list(group)) for href, group in groupby(runs, key=lambda run: run.href)]
        for at, (href, group) in enumerate(groups):
            before = parts[-1][-1:] if parts else ""
            after = groups[at + 1][1][0].text[:1] if at + 1 < len(groups) else ""
            url = self._urls.destination(href) if href else None
            inside = _joined(group, "[" if url else before, "]" if url else after)
            if url and inside.strip():
                if before == "!" and not _leading_space(inside):
                    parts[-1] = f"{parts[-1][:-1]}\\!"  # an exclamation mark before a link would make an image of it
                inside = f"{_leading_space(inside)}[{inside.strip()}]({url}){_trailing_space(inside)}"
            if inside:
                parts.append(inside)
        return _RUNS_OF_SPACES.sub(" ", "".join(parts)).strip()


def _goes_on(run: _Run, piece: str, marks: int, href: str) -> bool:
    """Return whether a piece is part of a run: with the same marks and link, code after code, or white space after it.

    Two spans of code side by side would be read as one with other signs.
    """
    if run.marks & CODE:
        return bool(marks & CODE) and href == run.href
    return (marks, href) == (run.marks, run.href) or piece.isspace()


def _spread(marked: MarkedLine) -> tuple[list[int], list[str], dict[int, tuple[str, str]]]:
    """Return the marks and the link of each piece, and the pictures among the pieces."""
    marks, hrefs = [0] * len(marked.pieces), [""] * len(marked.pieces)
    pictures: dict[int, tuple[str, str]] = {}
    for start, end, kind, url, text in marked.spans:
        if kind == PICTURE:
            pictures[start] = url, text
        elif kind == LINKED:
            hrefs[start:end] = [url] * (end - start)
        elif kind != CELL_START:
            marks[start:end] = [mark | kind for mark in marks[start:end]]
    return marks, hrefs, pictures


def _joined(runs: Sequence[_Run], before: str, after: str) -> str:
    """Return runs one after the other; `before` and `after` are the characters around them."""
    out = ""
    for at, run in enumerate(runs):
        following = runs[at + 1].text[:1] if at + 1 < len(runs) else after
        out += run.text if run.is_picture else _marked_up(run, (out or before)[-1:], following)
    return out


def _marked_up(run: _Run, before: str, after: str) -> str:
    text = " ".join(run.text.split())
    if not text:
        return " " if run.text else ""
    lead, trail = _leading_space(run.text), _trailing_space(run.text)
    # Code right after other code, as in a link that is not written, would not be read as code.
    content = _code(text) if run.marks & CODE and before != "`" else escape(text)
    stars = "*" * (run.marks & (EMPHASIS | STRONG))
    for sign in (stars, "~~" if run.marks & DELETED else ""):
        if sign and _can_emphasize(content, lead or before, trail or after):
            content = f"{sign}{content}{sign}"
    return f"{lead}{content}{trail}"


def _can_emphasize(content: str, before: str, after: str) -> bool:
    """Return whether signs of emphasis around a text are read as such, by the characters outside of them."""
    if before == "*" or before == "~":
        return False
    opens = not _is_punctuation(content[0]) or _is_border(before)
    return opens and (not _is_punctuation(content[-1]) or _is_border(after))


def _is_border(character: str) -> bool:
    return not character or character.isspace() or _is_punctuation(character)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _code(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _leading_space(text: str) -> str:
    return " " if text[:1].isspace() else ""


def _trailing_space(text: str) -> str:
    return " " if text[-1:].isspace() else ""
