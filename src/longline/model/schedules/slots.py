"""Slots of a quarter of an hour: their loads, and the choice of a slot for a schedule.

A slot's number is its time in UTC divided by its length. Preview and change of a rebalancing are one function.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from longline.model.duration import HOUR_MS

SLOT_MS = 900_000
DAY_HOURS = 24
SLOTS_PER_DAY = DAY_HOURS * HOUR_MS // SLOT_MS
PROTECTED_MS = 30 * 60_000
COOLDOWN_MS = HOUR_MS


class Waiting(NamedTuple):
    """A schedule with a due time, as far as balancing needs it."""

    id: int
    uid: str
    state: str
    next_due: int
    interval_ms: int | None
    placed_at: int | None
    retries: int


class Shift(NamedTuple):
    """A schedule that gets another due time."""

    id: int
    uid: str
    old: int
    new: int


class Balance(NamedTuple):
    """The result of a rebalancing: schedules moved, schedules skipped with the reason, the score before and after."""

    shifts: list[Shift]
    skipped: list[tuple[str, str]]
    before: float
    after: float


def slot_of(moment: int) -> int:
    """Return the slot of a moment."""
    return moment // SLOT_MS


class Places:
    """The slots from now on and the load of each; a place that is taken counts for the next schedule.

    `wanted` is the largest number of places to take: among `wanted` slots more than are loaded, each schedule finds a
    free slot, so the slots of a hundred years are never searched. The slots of each window lie in a heap, in which a
    load may be too small but never too large; the load is corrected when its slot comes up.
    """

    def __init__(self, loads: Mapping[int, int], now: int, wanted: int = 1) -> None:
        self._loads, self._now = dict(loads), now
        self._most = slot_of(now) + len(loads) + wanted - 1
        self._heaps: dict[int, list[tuple[int, int]]] = {}

    def take(self, window_ms: int) -> int:
        """Return a time in the least loaded slot of the window; the earliest of several, at once in the present one."""
        last = min(slot_of(self._now + window_ms - 1), self._most)
        heap = self._heaps.get(last)
        if heap is None:
            heap = self._heaps[last] = [(self._loads.get(s, 0), s) for s in range(slot_of(self._now), last + 1)]
            heapq.heapify(heap)
        load, slot = heap[0]
        while load != (actual := self._loads.get(slot, 0)):
            heapq.heapreplace(heap, (actual, slot))
            load, slot = heap[0]
        self._loads[slot] = load + 1
        heapq.heapreplace(heap, (load + 1, slot))
        return max(self._now, slot * SLOT_MS)


def hourly(moments: Iterable[int], now: int) -> list[int]:
    """Return the number of moments in each of the next 24 hours; the first begins now and includes overdue moments."""
    counts = [0] * DAY_HOURS
    for moment in moments:
        hour = max(0, moment - now) // HOUR_MS
        if hour < DAY_HOURS:
            counts[hour] += 1
    return counts


def slot_loads(moments: Iterable[int], now: int) -> list[int]:
    """Return the number of moments in each slot of a day, from the present hour on; overdue moments are in its slot."""
    return day_loads(Counter(slot_of(max(moment, now)) for moment in moments), now)


def day_loads(loads: Mapping[int, int], now: int) -> list[int]:
    """Return the loads of the slots of a day, from the present hour on."""
    first = first_slot(now)
    return [loads.get(slot, 0) for slot in range(first, first + SLOTS_PER_DAY)]


def first_slot(now: int) -> int:
    """Return the first slot of the present hour."""
    return now // HOUR_MS * HOUR_MS // SLOT_MS


def score(counts: Sequence[int]) -> float:
    """Return the evenness of a distribution, from 0 to 1: one less the coefficient of variation."""
    mean = sum(counts) / len(counts)
    if not mean:
        return 1.0
    deviation = math.sqrt(sum((count - mean) ** 2 for count in counts) / len(counts))
    return min(1.0, max(0.0, 1 - deviation / mean))


def move_refusal(waiting: Waiting, now: int) -> str | None:
    """Return the reason why a schedule may not be moved, in one word; None when it may."""
    if waiting.state == "running":
        return "running"
    if waiting.interval_ms is None or waiting.next_due - now <= PROTECTED_MS:
        return "protected"
    if waiting.placed_at is not None and now - waiting.placed_at < COOLDOWN_MS:
        return "cooldown"
    return "retrying" if waiting.retries else None


def rebalance(everybody: Sequence[Waiting], now: int) -> Balance:
    """Move schedules to their least loaded slots, the longest intervals first; a schedule in the best slot stays."""
    obstacles = [(waiting, move_refusal(waiting, now)) for waiting in everybody]
    first, last = slot_of(now) + 1, slot_of(now) + 1
    movable = [waiting for waiting, reason in obstacles if reason is None]
    for waiting in movable:
        last = max(last, slot_of(now + (waiting.interval_ms or 0)), slot_of(waiting.next_due))
    fixed = Counter(slot_of(w.next_due) for w, reason in obstacles if reason not in (None, "running"))
    loads = [fixed.get(slot, 0) for slot in range(first, last + 1)]
    shifts = []
    for waiting in sorted(movable, key=lambda w: (-(w.interval_ms or 0), w.id)):
        new = _place(loads, first, waiting, now)
        if new != waiting.next_due:
            shifts.append(Shift(waiting.id, waiting.uid, waiting.next_due, new))
    skipped = [(waiting.uid, reason) for waiting, reason in obstacles if reason is not None]
    moments = {w.id: w.next_due for w, reason in obstacles if reason != "running"}
    before = score(hourly(moments.values(), now))
    moments |= {shift.id: shift.new for shift in shifts}
    return Balance(shifts, skipped, before, score(hourly(moments.values(), now)))


def possible_shifts(everybody: Iterable[Waiting], chosen: Iterable[Shift], now: int) -> list[Shift]:
    """Return the chosen shifts that are possible still: from an unchanged due time to a coming slot."""
    waiting = {one.id: one for one in everybody}
    known = [(waiting[shift.id], shift) for shift in chosen if shift.id in waiting]
    return [Shift(one.id, one.uid, shift.old, shift.new) for one, shift in known if _is_possible(one, shift, now)]


def _is_possible(waiting: Waiting, shift: Shift, now: int) -> bool:
    is_slot = shift.new % SLOT_MS == 0 and now < shift.new <= now + (waiting.interval_ms or 0)
    return waiting.next_due == shift.old and is_slot and move_refusal(waiting, now) is None


def _place(loads: list[int], first: int, waiting: Waiting, now: int) -> int:
    """Take a place in the least loaded slot of the schedule's own interval; in its present slot, if none is better."""
    window = slot_of(now + (waiting.interval_ms or 0)) - first + 1
    lowest = min(loads[:window], default=None)
    present = slot_of(waiting.next_due) - first
    if lowest is None or (present < len(loads) and loads[present] <= lowest):
        loads[present] += 1
        return waiting.next_due
    best = loads.index(lowest)
    loads[best] += 1
    return (first + best) * SLOT_MS
