"""The distribution of schedules over the slots of a day, and its rebalancing on request."""

import asyncio
from collections.abc import Sequence

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.schedules.slots import Balance, Waiting, hourly, rebalance, slot_loads
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore


class SlotMap(msgspec.Struct, frozen=True):
    """The number of schedules that start next in each slot, for a day from the hour of `start` on."""

    start: int
    loads: list[int]


class BalancePreview(msgspec.Struct, frozen=True):
    """The slots of a day before and after a rebalancing, and the rebalancing itself."""

    start: int
    before: list[int]
    after: list[int]
    plan: Balance


class Slots:
    """The slots of all waiting schedules; a plan shows the effect of rebalancing at that moment."""

    def __init__(self, schedules: ScheduleStore, clock: Clock) -> None:
        self._schedules, self._clock = schedules, clock

    async def hours(self) -> list[int]:
        """Return the number of schedules due in each of the next 24 hours."""
        waiting = await self._schedules.waiting()
        return hourly((one.next_due for one in waiting if one.state != "running"), self._clock.now())

    async def day(self) -> SlotMap:
        """Return the slots of the coming day."""
        now = self._clock.now()
        waiting = await self._schedules.waiting()
        return SlotMap(_hour(now), slot_loads((one.next_due for one in waiting if one.state != "running"), now))

    async def preview(self) -> BalancePreview:
        """Return the slots of the coming day as they are, and as a rebalancing would leave them."""
        now = self._clock.now()
        waiting = [one for one in await self._schedules.waiting() if one.state != "running"]
        # Ten thousand schedules take a tenth of a second.
        return await asyncio.to_thread(_preview, waiting, now)

    async def rebalance(self, *, apply: bool) -> tuple[Balance, int]:
        """Spread schedules evenly, or only plan to; return the plan, and the number of schedules moved.

        Schedules that were moved meanwhile are left alone.
        """
        plan = await asyncio.to_thread(rebalance, await self._schedules.waiting(), self._clock.now())
        return plan, len(await self._schedules.shift(plan.shifts)) if apply and plan.shifts else 0


def _preview(waiting: Sequence[Waiting], now: int) -> BalancePreview:
    moments = {one.id: one.next_due for one in waiting}
    plan = rebalance(waiting, now)
    moved = moments | {shift.id: shift.new for shift in plan.shifts}
    return BalancePreview(_hour(now), slot_loads(moments.values(), now), slot_loads(moved.values(), now), plan)


def _hour(now: int) -> int:
    return now // HOUR_MS * HOUR_MS
