"""Plots over time, and sparklines: the curve stretches, text never does, and the y axis begins at 0."""

from collections.abc import Callable, Iterable, Sequence

import msgspec
from markupsafe import Markup

_TOP, _BOTTOM = 10, 22
_WIDTH = 1000
_CHARACTER_WIDTH = 7.2
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LINES = 4
_TICKS = 6


class Curve(msgspec.Struct, frozen=True):
    """A plot of one or two curves: a value, a label of the axis and a tip for each point.

    The last point of a live curve is marked.
    """

    values: Sequence[float]
    labels: Sequence[str]
    tips: Sequence[str]
    title: str
    second: Sequence[float] | None = None
    height: int = 240
    is_live: bool = True


def plot(curve: Curve, write: Callable[[float], str]) -> Markup:
    """Return a plot; `write` writes the numbers of the y axis. Arrow keys and the pointer move along its points."""
    step, top = _axis(max((*curve.values, *(curve.second or ())), default=0.0))
    scale = _Scale(curve.height, top, len(curve.values))
    lines = [index * step for index in range(round(top / step) + 1)]
    width = round(_CHARACTER_WIDTH * max(len(write(value)) for value in lines) + 10)
    return Markup(
        '<div class="plot" data-plot tabindex="0" role="img" aria-label="{}">'
        '<svg width="{}" height="{}" aria-hidden="true">{}</svg>'
        '<svg width="100%" height="{}" aria-hidden="true">{}{}{}{}</svg></div>'
    ).format(
        curve.title,
        width,
        curve.height,
        _join(
            Markup('<text x="{}" y="{:.1f}" text-anchor="end" dominant-baseline="central">{}</text>').format(
                width - 8, scale.y(value), write(value)
            )
            for value in lines
        ),
        curve.height,
        _join(_grid_line(value, scale) for value in lines),
        _curves(curve, scale),
        _points(curve, scale),
        _ticks(curve, scale),
    )


class _Scale:
    """The place of points in a plot: percent across, pixels down."""

    def __init__(self, height: int, top_value: float, points: int) -> None:
        self.height, self._top_value, self._gaps = height, top_value, max(1, points - 1)
        self.inner = height - _TOP - _BOTTOM

    def x(self, index: int) -> float:
        return index * 100 / self._gaps

    def y(self, value: float) -> float:
        return _TOP + self.inner * (1 - value / self._top_value)

    def path(self, values: Sequence[float]) -> str:
        places = (f"{index * _WIDTH / self._gaps:.1f} {self.y(value):.1f}" for index, value in enumerate(values))
        return "M" + "L".join(places)


def _axis(most: float) -> tuple[float, float]:
    """Return the distance of the lines of the y axis, and its upper end."""
    if most <= 0:
        return 1.0, float(_LINES)
    power = 1.0
    while most / _LINES > 10 * power:
        power *= 10
    while most / _LINES < power:
        power /= 10
    step = next(power * part for part in _STEPS if power * part * _LINES >= most)
    lines = next(count for count in range(1, _LINES + 1) if count * step >= most)
    return step, step * max(2, lines)


def _grid_line(value: float, scale: _Scale) -> Markup:
    kind = "grid-l" if value else "zero"
    return Markup('<line class="{}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>').format(kind, y=scale.y(value))


def _curves(curve: Curve, scale: _Scale) -> Markup:
    path, zero = scale.path(curve.values), scale.y(0)
    second = Markup('<path class="ln2" d="{}"/>').format(scale.path(curve.second)) if curve.second else ""
    return Markup(
        '<svg width="100%" height="{height}" viewBox="0 0 1000 {height}" preserveAspectRatio="none">'
        '<path class="ar" d="{path}L1000 {zero:.1f}L0 {zero:.1f}Z"/><path class="ln" d="{path}"/>{second}</svg>'
    ).format(height=scale.height, path=path, zero=zero, second=second)


def _points(curve: Curve, scale: _Scale) -> Markup:
    half, drawn = scale.x(1) / 2, []
    for index, (value, tip) in enumerate(zip(curve.values, curve.tips, strict=True)):
        x, other = scale.x(index), ""
        if curve.second:
            other = Markup('<circle class="b" cx="{:.2f}%" cy="{:.1f}" r="3"/>').format(x, scale.y(curve.second[index]))
        drawn.append(
            Markup(
                '<g class="pt" data-tip="{tip}"><rect class="hit" x="{left:.2f}%" width="{width:.2f}%" y="{top}" '
                'height="{inner}"/><line class="cross" x1="{x:.2f}%" x2="{x:.2f}%" y1="{top}" y2="{bottom}"/>'
                '<circle cx="{x:.2f}%" cy="{y:.1f}" r="3.5"/>{other}</g>'
            ).format(
                tip=tip,
                left=x - half,
                width=2 * half,
                top=_TOP,
                inner=scale.inner,
                x=x,
                bottom=_TOP + scale.inner,
                y=scale.y(value),
                other=other,
            )
        )
    if not curve.is_live:
        return _join(drawn)
    now = Markup('<circle class="now" cx="100%" cy="{:.1f}" r="4.5"/>').format(scale.y(curve.values[-1]))
    return _join(drawn) + now


def _ticks(curve: Curve, scale: _Scale) -> Markup:
    last = len(curve.labels) - 1
    places = sorted({round(last * part / _TICKS) for part in range(_TICKS + 1)})
    drawn = []
    for order, index in enumerate(places):
        anchor = "start" if index == 0 else "end" if index == last else "middle"
        kind = Markup(' class="tick-2"') if order % 2 and index != last else ""
        drawn.append(
            Markup('<text{} x="{:.2f}%" y="{}" text-anchor="{}">{}</text>').format(
                kind, scale.x(index), scale.height - 4, anchor, curve.labels[index]
            )
        )
    return _join(drawn)


def sparkline(values: Sequence[float], kind: str = "") -> Markup:
    """Return a small curve without axes, from 0 to its largest value."""
    most = max(values, default=0.0) or 1.0
    gaps = max(1, len(values) - 1)
    places = (f"{index * 100 / gaps:.1f} {26 - 24 * value / most:.1f}" for index, value in enumerate(values))
    path = "M" + "L".join(places)
    return Markup(
        '<svg class="spark {kind}" viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="area" d="{path}L100 28L0 28Z"/><path class="water" d="M0 27.5H100"/><path d="{path}"/></svg>'
    ).format(kind=kind, path=path)


def _join(drawn: Iterable[Markup]) -> Markup:
    return Markup("").join(drawn)
