"""Main texts of pages with ground truth, by Longline and by trafilatura fast in one run; `python -m bench articles`.

A corpus is a folder of `NAME.html` (or `.html.gz`) beside `NAME.txt`, or one with `ground-truth.json` and `html/` like
that of the public article extraction benchmark. No corpus is in this repository.
"""

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from longline.html.page_text import main_text
from longline.plugins import Page

SHINGLE_WORDS = 4
"""Words in a row that are compared, as in the public benchmark."""

_WORD = re.compile(r"\w+")

Extract = Callable[[bytes], str]


class TruePage(NamedTuple):
    """A page of a corpus, and the expected text."""

    name: str
    body: bytes
    text: str


@dataclass
class Figures:
    """Precision and recall of each page, and the processor time of all."""

    precisions: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def precision(self) -> float:
        """Return the mean of the pages."""
        return sum(self.precisions) / max(len(self.precisions), 1)

    @property
    def recall(self) -> float:
        """Return the mean of the pages."""
        return sum(self.recalls) / max(len(self.recalls), 1)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)

    @property
    def pages_per_second(self) -> float:
        """Return pages in a second of one core."""
        return len(self.recalls) / max(self.seconds, 1e-9)


def main(arguments: Sequence[str]) -> None:
    """Measure each corpus, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench articles", description=__doc__)
    parser.add_argument("--corpus", type=Path, action="append", required=True, help="folder of a corpus; several times")
    parser.add_argument("--rounds", type=int, default=1, help="times that each page is extracted; the fastest counts")
    asked = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 110)
    for folder in asked.corpus:
        with console.status(str(folder)):
            measured = measure(pages_of(folder), asked.rounds)
        console.print(table(measured, folder.name))


def table(measured: dict[str, Figures], title: str) -> Table:
    """Return the ways side by side."""
    pages = len(next(iter(measured.values())).recalls)
    made = Table(title=f"{title}: {pages} pages", title_justify="left")
    made.add_column("main text by")
    for heading in ("F1", "precision", "recall", "pages/s per core", "times the library"):
        made.add_column(heading, justify="right")
    library = measured["trafilatura fast"].seconds
    for name, figures in measured.items():
        quality = (f"{value:.3f}" for value in (figures.f1, figures.precision, figures.recall))
        made.add_row(name, *quality, f"{figures.pages_per_second:,.0f}", f"{library / max(figures.seconds, 1e-9):.1f}")
    return made


def measure(pages: Iterator[TruePage], rounds: int = 1) -> dict[str, Figures]:
    """Extract each page in every way, one after the other, so that a busy machine slows all of them."""
    ways: dict[str, Extract] = {"trafilatura fast": _by_library, "longline": _by_page}
    measured = {name: Figures() for name in ways}
    _by_library(b"<p>The library is imported on first use.</p>")
    for page in pages:
        for name, extract in ways.items():
            text, seconds = _timed(extract, page.body, rounds)
            precision, recall = compared(text, page.text)
            measured[name].precisions.append(precision)
            measured[name].recalls.append(recall)
            measured[name].seconds += seconds
    return measured


def _timed(extract: Extract, body: bytes, rounds: int) -> tuple[str, float]:
    text, best = "", float("inf")
    for _ in range(rounds):
        begun = time.thread_time()
        text = extract(body)
        best = min(best, time.thread_time() - begun)
    return text, best


def _by_library(body: bytes) -> str:
    return main_text(_page(body).html)


def _by_page(body: bytes) -> str:
    return _page(body).article()


def _page(body: bytes) -> Page:
    return Page("https://example.com/", body, content_type="text/html")


def compared(text: str, expected: str) -> tuple[float, float]:
    """Return precision and recall of a text's shingles."""
    got, wanted = _shingles(text), _shingles(expected)
    common = (got & wanted).total()
    if common == got.total() == wanted.total():
        return 1.0, 1.0
    return common / max(got.total(), 1), common / max(wanted.total(), 1)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    length = min(SHINGLE_WORDS, len(words))
    return Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1) if length)


def pages_of(folder: Path) -> Iterator[TruePage]:
    """Yield the pages of a corpus."""
    truth = folder / "ground-truth.json"
    if truth.exists():
        expected = {name: page["articleBody"] for name, page in json.loads(truth.read_bytes()).items()}
        folder = folder / "html"
    else:
        expected = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    if not expected:
        raise SystemExit(f"{folder} is no corpus: it has neither ground-truth.json nor NAME.txt beside NAME.html")
    for name, text in expected.items():
        yield TruePage(name, _body(folder / f"{name}.html"), text)


def _body(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())
