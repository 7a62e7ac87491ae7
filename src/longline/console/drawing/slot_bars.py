"""The slots of a day: the shade of a slot in the map, and bars before and after a rebalancing."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from longline.console.template_filters import clock_time, zone_name
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.schedules.slots import DAY_HOURS, SLOT_MS

_HEIGHT, _TOP, _BOTTOM = 128, 8, 20
_LINES = 4
_SHADES = 6
_HOUR_SLOTS = HOUR_MS // SLOT_MS


class MapSlot(NamedTuple):
    """A slot in the map: its start, its load, the class of its shade, and whether it is the present one."""

    start: int
    load: int
    shade: str
    is_now: bool


class MapRow(NamedTuple):
    """A row of the map: the minute of the hour at which its slots begin, and a slot for each hour."""

    minute: int
    slots: list[MapSlot]


def slot_map(loads: Sequence[int], start: int, now: int) -> list[MapRow]:
    """Return the rows of the map of a day; `start` is the time of the first slot."""

    def slot(number: int) -> MapSlot:
        at = start + number * SLOT_MS
        return MapSlot(at, loads[number], shade(loads[number], max(loads)), at <= now < at + SLOT_MS)

    return [
        MapRow(row * SLOT_MS // MINUTE_MS, [slot(hour * _HOUR_SLOTS + row) for hour in range(DAY_HOURS)])
        for row in range(_HOUR_SLOTS)
    ]


def shade(load: int, most: int) -> str:
    """Return the class of a slot: the deeper, the more schedules start in it."""
    return "h0" if not load else f"h{min(_SHADES, 1 + load * (_SHADES - 1) // max(most, 1))}"


def shade_key(most: int) -> list[tuple[str, int]]:
    """Return the classes of all slots up to the fullest, each with its least load."""
    least: dict[str, int] = {}
    for load in range(most + 1):
        least.setdefault(shade(load, most), load)
    return list(least.items())


def slot_bars(loads: Sequence[int], most: int, start: int) -> Markup:
    """Return a bar for each slot; `most` is the load of the highest line, `start` the time of the first slot."""
    top = max(_LINES, -(-most // _LINES) * _LINES)
    step = 100 / max(len(loads), 1)
    bars = [_bar(load, number, step, top, start) for number, load in enumerate(loads) if load]
    ticks = [_tick(hour, start, len(loads)) for hour in range(0, len(loads) // 4 + 1, 4)]
    return Markup(
        '<div class="plot"><svg width="36" height="{0}" aria-hidden="true">{1}</svg>'
        '<svg width="100%" height="{0}" role="img" aria-label="Schedules in each slot; the fullest has {2}">'
        "{3}{4}{5}</svg></div>"
    ).format(
        _HEIGHT,
        Markup("").join(_scale(top)),
        max(loads, default=0),
        Markup("").join(_lines(top)),
        Markup("").join(bars),
        Markup("").join(ticks),
    )


def _y(load: float, top: int) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - load / top)


def _scale(top: int) -> list[Markup]:
    text = Markup('<text x="28" y="{:.1f}" text-anchor="end" dominant-baseline="central">{}</text>')
    return [text.format(_y(top * line / _LINES, top), top * line // _LINES) for line in range(_LINES + 1)]


def _lines(top: int) -> list[Markup]:
    line = Markup('<line class="{0}" x1="0" x2="100%" y1="{1:.1f}" y2="{1:.1f}"/>')
    return [
        line.format("zero" if not number else "grid-l", _y(top * number / _LINES, top)) for number in range(_LINES + 1)
    ]


def _bar(load: int, number: int, step: float, top: int, start: int) -> Markup:
    told = f"{clock_time(start + number * SLOT_MS)[:5]} {zone_name()}: {load}"
    return Markup(
        '<rect class="sb" x="{:.2f}%" width="{:.2f}%" y="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(number * step, step * 0.8, _y(load, top), _y(0, top) - _y(load, top), told)


def _tick(hour: int, start: int, slots: int) -> Markup:
    share = hour * 4 / slots
    anchor = "start" if not hour else "end" if share >= 1 else "middle"
    kind = Markup(' class="tick-2"') if hour % 8 else ""
    return Markup('<text x="{:.2f}%" y="{}" text-anchor="{}"{}>{}</text>').format(
        share * 100, _HEIGHT - 4, anchor, kind, clock_time(start + hour * HOUR_MS)[:5]
    )
