"""Health matrix of proxies and sources: the share of good requests in each cell, and the shade of the cell."""

from typing import NamedTuple

from longline.model.proxies.proxy import MappedProxy

GOOD_PERCENT = 90
"""Share of good requests from which a proxy counts as good at a source."""

FAIR_PERCENT = 60
"""Share of good requests from which a proxy counts as fair at a source."""


class MatrixCell(NamedTuple):
    """A cell: the class of its shade, its text, and the text that a pointer shows."""

    shade: str
    text: str
    title: str


class KeyEntry(NamedTuple):
    """An entry of the key of the matrix: a shade, an example, and the shares that have the shade."""

    shade: str
    example: int
    shares: str


MATRIX_KEY = (
    KeyEntry("hs-done", 95, f"{GOOD_PERCENT} and more"),
    KeyEntry("hs-warn", 75, f"{FAIR_PERCENT} to {GOOD_PERCENT - 1}"),
    KeyEntry("hs-fail", 31, f"under {FAIR_PERCENT}"),
)


def matrix_cell(uses: MappedProxy | None) -> MatrixCell:
    """Return the cell of a proxy at a source; None for a proxy that is not assigned to the source."""
    requests = uses.success_count + uses.total_failures if uses else 0
    if uses is None or not requests:
        return MatrixCell("", "–", "0 requests")
    good = 100 * uses.success_count / requests
    return MatrixCell(shade(good), f"{good:.0f}", f"{requests} requests")


def shade(good: float) -> str:
    """Return the class of a share of good requests, in per cent."""
    return "hs-done" if good >= GOOD_PERCENT else "hs-warn" if good >= FAIR_PERCENT else "hs-fail"
