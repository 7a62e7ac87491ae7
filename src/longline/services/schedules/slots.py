"""The distribution of schedules over the slots of a day, and its rebalancing on request."""

from longline.model.schedules.slots import Balance, hourly, rebalance
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore


class Slots:
    """The slots of all waiting schedules; a plan shows the effect of rebalancing at that moment."""

    def __init__(self, schedules: ScheduleStore, clock: Clock) -> None:
        self._schedules, self._clock = schedules, clock

    async def hours(self) -> list[int]:
        """Return the number of schedules due in each of the next 24 hours."""
        waiting = await self._schedules.waiting()
        return hourly((one.next_due for one in waiting if one.state != "running"), self._clock.now())

    async def rebalance(self, *, apply: bool) -> tuple[Balance, int]:
        """Spread schedules evenly, or only plan to; return the plan, and the number of schedules moved.

        Schedules that were moved meanwhile are left alone.
        """
        plan = rebalance(await self._schedules.waiting(), self._clock.now())
        return plan, len(await self._schedules.shift(plan.shifts)) if apply and plan.shifts else 0
