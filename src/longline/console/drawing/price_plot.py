"""The prices of an item over time, as steps: a price holds until the next one."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from longline.console.template_filters import axis_number, moment, written_price, zone_name

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 1000, 140, 10, 22


def price_plot(prices: Sequence[tuple[int, float]], now: int, currency: str = "") -> Markup:
    """Return the plot of prices, each from its time on; the earliest comes first."""
    if not prices:
        return Markup("")
    top = _top(max(price for _, price in prices))
    start, end = prices[0][0], max(now, prices[-1][0] + 1)
    points = [(_WIDTH * (at - start) / (end - start), _y(price, top)) for at, price in prices]
    way = f"M0 {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:]) + f"H{_WIDTH}"
    told = f"Price since {moment(start)[:10]}, now {written_price(prices[-1][1], currency)}"
    return Markup(
        '<div class="plot" data-plot><svg width="56" height="{h}" aria-hidden="true">{scale}</svg>'
        '<svg width="100%" height="{h}" role="img" tabindex="0" aria-label="{told}">{lines}'
        '<svg width="100%" height="{h}" viewBox="0 0 {w} {h}" preserveAspectRatio="none">'
        '<path class="ln" d="{way}"/></svg>'
        "{points}{ticks}</svg></div>"
    ).format(
        h=_HEIGHT,
        w=_WIDTH,
        told=told,
        way=way,
        scale=_scale(top),
        lines=_lines(top),
        points=_points(prices, points, currency),
        ticks=_ticks(start, end),
    )


def price_tip(at: int, price: float, currency: str = "") -> str:
    """Return the words about a price, which the readout above the plot shows."""
    return f"{written_price(price, currency)} since {moment(at)[:16]} {zone_name()}"


def _top(price: float) -> float:
    """Return the value of the highest line: a quarter of it is a round number."""
    step = 10.0 ** math.floor(math.log10(price / 4)) if price > 0 else 0.25
    return 4 * next(step * factor for factor in (1, 2, 2.5, 5, 10, 20) if 4 * step * factor >= price)


def _y(price: float, top: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - price / top)


def _scale(top: float) -> Markup:
    text = Markup('<text x="48" y="{:.1f}" text-anchor="end" dominant-baseline="central">{}</text>')
    return Markup("").join(text.format(_y(top * n / 4, top), axis_number(top * n / 4)) for n in range(5))


def _lines(top: float) -> Markup:
    line = Markup('<line class="{0}" x1="0" x2="100%" y1="{1:.1f}" y2="{1:.1f}"/>')
    return Markup("").join(line.format("grid-l" if n else "zero", _y(top * n / 4, top)) for n in range(5))


def _points(prices: Sequence[tuple[int, float]], points: Sequence[tuple[float, float]], currency: str) -> Markup:
    shape = Markup(
        '<g class="pt" data-tip="{tip}"><rect class="hit" x="{x:.2f}%" width="2%" y="{top}" height="{high}"/>'
        '<circle cx="{x:.2f}%" cy="{y:.1f}" r="3.5"/></g>'
    )
    drawn = zip(prices, points, strict=True)
    return Markup("").join(
        shape.format(tip=price_tip(at, price, currency), x=x / 10, y=y, top=_TOP, high=_HEIGHT - _BOTTOM)
        for (at, price), (x, y) in drawn
    )


def _ticks(start: int, end: int) -> Markup:
    text = Markup('<text x="{}%" y="{}" text-anchor="{}">{}</text>')
    ends = ((0, "start", start), (100, "end", end))
    return Markup("").join(text.format(x, _HEIGHT - 4, anchor, moment(at)[:10]) for x, anchor, at in ends)
