"""The bar of a run's fates: it adds up to the admitted URLs, and tiny parts are drawn wide enough to be seen."""

from collections.abc import Sequence
from typing import Protocol

from markupsafe import Markup

from longline.console.template_filters import number

PATTERNS = {"f-fail": "p-hatch", "f-skip": "p-dots", "f-stop": "p-bars"}
"""Patterns by which fills are told apart without colour."""

FATES = (
    ("completed", "f-done"),
    ("skipped", "f-skip"),
    ("failed", "f-fail"),
    ("cancelled", "f-stop"),
    ("open", "f-open"),
)
"""Fates in the order of the bar, each with its fill."""

_HEIGHT, _SMALL_HEIGHT = 28, 10
_LEAST_PERCENT, _SMALL_LEAST_PERCENT = 1.4, 2.2


class FateCounts(Protocol):
    """A run with its counts."""

    @property
    def completed(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def cancelled(self) -> int: ...
    @property
    def open(self) -> int: ...


def fate_bar(run: FateCounts, *, is_small: bool = False) -> Markup:
    """Return the bar of a run; its label has all numbers."""
    counts = [(name, fill, int(getattr(run, name))) for name, fill in FATES]
    label = ", ".join(f"{number(count)} {name}" for name, _, count in counts)
    return stacked_bar([(fill, count) for _, fill, count in counts], label, is_small=is_small)


def stacked_bar(parts: Sequence[tuple[str, int]], label: str, *, is_small: bool = False) -> Markup:
    """Return a bar of parts, each with its fill and its count."""
    height = _SMALL_HEIGHT if is_small else _HEIGHT
    drawn, left = [], 0.0
    for fill, width in _widths(parts, _SMALL_LEAST_PERCENT if is_small else _LEAST_PERCENT):
        place = Markup('x="{:.2f}%" width="{:.2f}%" height="{}"').format(left, width, height)
        drawn.append(Markup('<rect class="seg-r {}" {}/>').format(fill, place))
        if fill in PATTERNS:
            drawn.append(Markup('<rect {} fill="url(#{})"/>').format(place, PATTERNS[fill]))
        left += width
    classes = "fate mini" if is_small else "fate"
    whole = Markup("").join(drawn) or Markup('<rect class="seg-r f-none" width="100%" height="{}"/>').format(height)
    return Markup('<svg class="{}" role="img" aria-label="{}">{}</svg>').format(classes, label, whole)


def _widths(parts: Sequence[tuple[str, int]], least: float) -> list[tuple[str, float]]:
    total = sum(count for _, count in parts)
    shares = [(fill, max(100 * count / total, least)) for fill, count in parts if count]
    drawn = sum(share for _, share in shares)
    return [(fill, share * 100 / drawn) for fill, share in shares]


def fill_key(fill: str) -> Markup:
    """Return the sample of a fill beside its name."""
    pattern = PATTERNS.get(fill)
    drawn = Markup('<rect width="11" height="11" fill="url(#{})"/>').format(pattern) if pattern else ""
    return Markup('<svg class="key" aria-hidden="true"><rect class="{}" width="11" height="11"/>{}</svg>').format(
        fill, drawn
    )


def share_bar(value: float, most: float, fill: str = "f-work") -> Markup:
    """Return the bar of one value in a ranking; `most` is as wide as its bed."""
    width = 100 * value / most if most else 0.0
    place = Markup('width="{:.1f}%" height="8"').format(width)
    pattern = PATTERNS.get(fill)
    drawn = Markup('<rect {} fill="url(#{})"/>').format(place, pattern) if pattern else ""
    return Markup(
        '<svg class="bar" aria-hidden="true"><rect class="bed" width="100%" height="8" rx="1"/>'
        '<rect class="{}" {} rx="1"/>{}</svg>'
    ).format(fill, place, drawn)
