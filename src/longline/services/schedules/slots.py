"""The distribution of schedules over the slots of a day, and its rebalancing on request."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.schedules.schedule import ScheduleFilter, ScheduleRow
from longline.model.schedules.slots import (
    SLOT_MS,
    SLOTS_PER_DAY,
    Balance,
    Shift,
    Waiting,
    day_loads,
    first_slot,
    hourly,
    possible_shifts,
    rebalance,
    slot_loads,
    slot_of,
)
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore, SlotStore

MAX_SHOWN_SHIFTS = 100
"""Largest number of schedules in a preview that can be moved one by one."""


class SlotMap(msgspec.Struct, frozen=True):
    """The number of schedules that start next in each slot, for a day from the hour of `start` on."""

    start: int
    loads: list[int]


class BalancePreview(msgspec.Struct, frozen=True):
    """The slots of a day before and after a rebalancing, and the rebalancing itself.

    `shown` has the first shifts with their schedules: those out of the fullest slots.
    """

    start: int
    before: list[int]
    after: list[int]
    plan: Balance
    shown: list[tuple[Shift, ScheduleRow]] = []


class Slots:
    """The slots of all waiting schedules; a plan shows the effect of rebalancing at that moment."""

    def __init__(self, slots: SlotStore, schedules: ScheduleStore, clock: Clock) -> None:
        self._slots, self._schedules, self._clock = slots, schedules, clock

    async def hours(self) -> list[int]:
        """Return the number of schedules due in each of the next 24 hours."""
        waiting = await self._slots.waiting()
        return hourly((one.next_due for one in waiting if one.state != "running"), self._clock.now())

    async def day(self) -> SlotMap:
        """Return the slots of the coming day."""
        now = self._clock.now()
        loads = await self._slots.loads((first_slot(now) + SLOTS_PER_DAY) * SLOT_MS)
        return SlotMap(_hour(now), day_loads(loads, now))

    async def preview(self) -> BalancePreview:
        """Return the slots of the coming day as they are, and as a rebalancing would leave them."""
        now = self._clock.now()
        waiting = [one for one in await self._slots.waiting() if one.state != "running"]
        # Ten thousand schedules take a tenth of a second.
        found = await asyncio.to_thread(_preview, waiting, now)
        first = _fullest_first(waiting, found.plan.shifts)[:MAX_SHOWN_SHIFTS]
        chosen = ScheduleFilter(ids=tuple(shift.id for shift in first))
        rows = {row.id: row for row in await self._schedules.find(chosen)} if first else {}
        return msgspec.structs.replace(found, shown=[(one, rows[one.id]) for one in first if one.id in rows])

    async def rebalance(self, *, apply: bool) -> tuple[Balance, int]:
        """Spread schedules evenly, or only plan to; return the plan, and the number of schedules moved.

        Schedules that were moved meanwhile are left alone.
        """
        plan = await asyncio.to_thread(rebalance, await self._slots.waiting(), self._clock.now())
        return plan, len(await self._slots.shift(plan.shifts)) if apply and plan.shifts else 0

    async def move(self, chosen: Sequence[Shift]) -> int:
        """Move single schedules of a preview; return their number.

        Schedules are left alone if they were moved meanwhile, or may not be moved any more.
        """
        shifts = possible_shifts(await self._slots.waiting(), chosen, self._clock.now())
        return len(await self._slots.shift(shifts)) if shifts else 0


def _fullest_first(waiting: Sequence[Waiting], shifts: Sequence[Shift]) -> list[Shift]:
    loads = Counter(slot_of(one.next_due) for one in waiting)
    return sorted(shifts, key=lambda shift: (-loads[slot_of(shift.old)], shift.old, shift.id))


def _preview(waiting: Sequence[Waiting], now: int) -> BalancePreview:
    moments = {one.id: one.next_due for one in waiting}
    plan = rebalance(waiting, now)
    moved = moments | {shift.id: shift.new for shift in plan.shifts}
    return BalancePreview(_hour(now), slot_loads(moments.values(), now), slot_loads(moved.values(), now), plan)


def _hour(now: int) -> int:
    return now // HOUR_MS * HOUR_MS
