"""A bar chart as SVG, drawn by hand: no library is needed for seven rectangles."""

from collections.abc import Sequence
from html import escape

_BAR, _GAP, _LABEL, _WIDTH, _TOP = 22, 10, 270, 820, 46
_COLOURS = ("#2a7f62", "#8a8f98")
"""The colours of Longline and of all others."""


def drawn(bars: Sequence[tuple[str, float]], title: str, unit: str) -> str:
    """Return one bar for each (label, figure), the longest as wide as the space allows."""
    most = max((figure for _, figure in bars), default=1.0)
    height = _TOP + len(bars) * (_BAR + _GAP) + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif"'
        ' font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="26" font-size="14" fill="#222222">{escape(title)}</text>',
    ]
    for number, (label, figure) in enumerate(bars):
        parts += _bar(label, f"{figure:,.0f} {unit}", figure / most, _TOP + number * (_BAR + _GAP))
    return "\n".join([*parts, "</svg>"])


def _bar(label: str, figure: str, share: float, top: int) -> list[str]:
    length = max(1.0, share * (_WIDTH - _LABEL - 130))
    colour = _COLOURS[0 if label.startswith("Longline") else 1]
    middle = top + _BAR * 0.7
    return [
        f'<text x="{_LABEL - 10}" y="{middle}" text-anchor="end" fill="#222222">{escape(label)}</text>',
        f'<rect x="{_LABEL}" y="{top}" width="{length:.1f}" height="{_BAR}" rx="3" fill="{colour}"/>',
        f'<text x="{_LABEL + length + 8:.1f}" y="{middle}" fill="#222222">{escape(figure)}</text>',
    ]
