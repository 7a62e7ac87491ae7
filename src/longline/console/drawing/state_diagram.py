"""The diagram of the states of a task, a run or a schedule, drawn from the table of moves.

Every move is an edge. The way that was taken is dark, the moves that are legal now are lit and named. Moves that are
legal in nearly every state have an edge only when they are lit.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from markupsafe import Markup

from longline.model.states import MOVES, Move, Noun, legal

Point = tuple[float, float]

PLACES: Mapping[Noun, Mapping[str, Point]] = {
    "task": {
        "pending": (70, 130),
        "queued": (225, 130),
        "crawling": (385, 130),
        "downloaded": (560, 130),
        "parsing": (770, 130),
        "completed": (925, 130),
        "expired": (478, 200),
        "queued_parse": (665, 200),
        "skipped": (925, 250),
        "failed": (925, 315),
        "cancelled": (925, 380),
        "paused": (225, 430),
    },
    "run": {
        "queued": (110, 130),
        "running": (400, 130),
        "completed": (760, 60),
        "failed": (760, 130),
        "cancelled": (760, 200),
    },
    "schedule": {
        "pending": (110, 130),
        "scheduled": (330, 130),
        "running": (560, 130),
        "completed": (800, 60),
        "failed": (800, 130),
        "cancelled": (800, 215),
        "paused": (330, 215),
    },
}
"""The middle of the box of every state; a test compares with the table of moves."""

VIEW_BOXES: Mapping[Noun, str] = {"task": "8 26 1030 432", "run": "40 20 830 220", "schedule": "40 20 870 230"}

_HALF_WIDTH, _HALF_HEIGHT = 54, 17
_EVERYWHERE = 6
"""Number of states from which on a move has no edges of its own."""


class _Edge(NamedTuple):
    start: str
    end: str
    names: tuple[str, ...]


def state_diagram(
    noun: Noun, state: str, came_by: Iterable[str] = (), impossible: Collection[str] = frozenset()
) -> Markup:
    """Return the diagram of a thing in `state`; `came_by` are the states that it has passed.

    Moves that are `impossible` for this thing are left out, although its state allows them.
    """
    past = {*came_by} - {state}
    lit = set(legal(noun, state)) - {*impossible}
    drawn = sorted((_class_of(edge, state, past), edge) for edge in _edges(noun, state, impossible))
    order = {"": 0, "past": 1, "lit": 2}
    edges = [_edge(noun, edge, kind) for kind, edge in sorted(drawn, key=lambda one: order[one[0]])]
    labels = [_label(noun, edge) for kind, edge in drawn if kind == "lit"]
    boxes = [_box(noun, name, state, past, _ends(noun, lit, state)) for name in PLACES[noun]]
    told = f"States of a {noun}. It stands at {state}. From here: {', '.join(sorted(lit)) or 'nowhere'}."
    parts = Markup("").join([_TIPS, *edges, *boxes, *labels])
    return Markup('<svg class="machine" viewBox="{}" role="img" aria-label="{}" data-state="{}">{}</svg>').format(
        VIEW_BOXES[noun], told, state, parts
    )


def moves_from(noun: Noun, state: str, impossible: Collection[str] = frozenset()) -> list[tuple[str, str]]:
    """Return the legal moves from a state, each with the state that it leads to."""
    legal_moves = [move for move in MOVES if move.noun == noun and state in move.was]
    return [(move.name, move.became) for move in legal_moves if move.name not in impossible]


def _is_drawn(move: Move, state: str) -> bool:
    return len(move.was) <= _EVERYWHERE or state in move.was


def _edges(noun: Noun, state: str, impossible: Collection[str]) -> list[_Edge]:
    """Return the edges, each with all moves that lead from its start to its end."""
    found: dict[tuple[str, str], list[str]] = {}
    for move in MOVES:
        if move.noun != noun or move.name in impossible or not _is_drawn(move, state):
            continue
        starts = move.was if len(move.was) <= _EVERYWHERE else {state}
        for start in starts:
            if start != move.became:
                found.setdefault((start, move.became), []).append(move.name)
    return [_Edge(start, end, tuple(names)) for (start, end), names in sorted(found.items())]


def _class_of(edge: _Edge, state: str, past: set[str]) -> str:
    if edge.start == state:
        return "lit"
    return "past" if edge.start in past and edge.end in past | {state} else ""


def _ends(noun: Noun, lit: set[str], state: str) -> set[str]:
    return {move.became for move in MOVES if move.noun == noun and move.name in lit and state in move.was}


_TIPS = Markup(
    "<defs>"
    + "".join(
        f'<marker id="tip{"-" + kind if kind else ""}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" '
        f'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path class="tip {kind}" d="M0 .5 8 4 0 7.5z"/></marker>'
        for kind in ("", "past", "lit")
    )
    + "</defs>"
)


def _route(noun: Noun, edge: _Edge) -> tuple[Point, Point, Point, Point]:
    """Return the curve of an edge: start, two control points, end."""
    (ax, ay), (bx, by) = PLACES[noun][edge.start], PLACES[noun][edge.end]
    if ay != by:
        down = 1 if by > ay else -1
        start, end = (ax, ay + down * _HALF_HEIGHT), (bx, by - down * (_HALF_HEIGHT + 4))
        if bx - ax > 2 * _HALF_WIDTH:
            # Forward: down first, then along the row of the end, which is free from there on.
            return start, (ax, by), (ax + 20, by), (bx - _HALF_WIDTH - 4, by)
        if ax - bx > 2 * _HALF_WIDTH:
            # Back: along the row of the start, then into the end from its side of the rows.
            return (ax - _HALF_WIDTH, ay), (bx + 20, ay), (bx, ay), end
        if any(x == ax == bx and min(ay, by) < y < max(ay, by) for x, y in PLACES[noun].values()):
            # Around the boxes between them, into the side of the box.
            start, end = (ax + _HALF_WIDTH, ay), (bx + _HALF_WIDTH + 4, by)
            return start, (ax + _HALF_WIDTH + 48, ay), (bx + _HALF_WIDTH + 52, by), end
        return start, (ax, (ay + by) / 2), (bx, (ay + by) / 2), end
    between = any(y == ay and min(ax, bx) < x < max(ax, bx) for x, y in PLACES[noun].values())
    if not between and bx > ax:
        return (ax + _HALF_WIDTH, ay), (ax + _HALF_WIDTH, ay), (bx - _HALF_WIDTH - 4, by), (bx - _HALF_WIDTH - 4, by)
    rise = 34 + abs(bx - ax) * 0.11
    lean = 18 if bx > ax else -18
    start, end = (ax + lean, ay - _HALF_HEIGHT), (bx - lean, by - _HALF_HEIGHT - 4)
    return start, (ax + lean, ay - rise), (bx - lean, by - rise), end


def _edge(noun: Noun, edge: _Edge, kind: str) -> Markup:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = _route(noun, edge)
    way = f"M{ax:.0f} {ay:.0f}C{bx:.0f} {by:.0f} {cx:.0f} {cy:.0f} {dx:.0f} {dy:.0f}"
    tip = f"tip-{kind}" if kind else "tip"
    return Markup('<path class="edge {}" d="{}" marker-end="url(#{})"><title>{}</title></path>').format(
        kind, way, tip, ", ".join(edge.names)
    )


def _label(noun: Noun, edge: _Edge) -> Markup:
    """Return the names of the moves of a lit edge, on a ground that hides other edges."""
    points, share = _route(noun, edge), 0.62
    weights = ((1 - share) ** 3, 3 * (1 - share) ** 2 * share, 3 * (1 - share) * share**2, share**3)
    x = sum(weight * point[0] for weight, point in zip(weights, points, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, points, strict=True))
    text = ", ".join(edge.names)
    if points[0][1] == points[3][1] and points[1][1] == points[0][1]:
        y -= 12
    width = 6.2 * len(text) + 8
    ground = Markup('<rect class="lab-bg" x="{:.0f}" y="{:.0f}" width="{:.0f}" height="16"/>').format(
        x - width / 2, y - 8, width
    )
    return ground + Markup('<text class="lab lit" x="{:.0f}" y="{:.0f}">{}</text>').format(x, y, text)


def _box(noun: Noun, name: str, state: str, past: set[str], ends: set[str]) -> Markup:
    x, y = PLACES[noun][name]
    kind = "here" if name == state else "past" if name in past else "next" if name in ends else ""
    halo = Markup('<rect class="halo" x="{:.0f}" y="{:.0f}" width="{}" height="44" rx="22"/>').format(
        x - _HALF_WIDTH - 5, y - _HALF_HEIGHT - 5, 2 * _HALF_WIDTH + 10
    )
    box = Markup('<rect class="box {}" x="{:.0f}" y="{:.0f}" width="{}" height="34" rx="17"/>').format(
        kind, x - _HALF_WIDTH, y - _HALF_HEIGHT, 2 * _HALF_WIDTH
    )
    text = Markup('<text class="{}" x="{:.0f}" y="{:.0f}">{}</text>').format(
        "here" if name == state else "", x, y, name.replace("_", " ")
    )
    return (halo if name == state else Markup("")) + box + text
