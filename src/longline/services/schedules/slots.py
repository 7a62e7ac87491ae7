"""The distribution of schedules over the slots of a day, and its rebalancing on request."""

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.schedules.slots import Balance, hourly, rebalance, slot_loads
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore


class SlotMap(msgspec.Struct, frozen=True):
    """The next starts of schedules by slot, for a day from the hour of `start` on, and the same after a rebalancing.

    `plan` is the rebalancing of which `after` shows the effect.
    """

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
        """Return the slots of the coming day as they are, and as a rebalancing would leave them."""
        now = self._clock.now()
        waiting = [one for one in await self._schedules.waiting() if one.state != "running"]
        moments = {one.id: one.next_due for one in waiting}
        plan = rebalance(waiting, now)
        moved = moments | {shift.id: shift.new for shift in plan.shifts}
        return SlotMap(
            now // HOUR_MS * HOUR_MS, slot_loads(moments.values(), now), slot_loads(moved.values(), now), plan
        )

    async def rebalance(self, *, apply: bool) -> tuple[Balance, int]:
        """Spread schedules evenly, or only plan to; return the plan, and the number of schedules moved.

        Schedules that were moved meanwhile are left alone.
        """
        plan = rebalance(await self._schedules.waiting(), self._clock.now())
        return plan, len(await self._schedules.shift(plan.shifts)) if apply and plan.shifts else 0
