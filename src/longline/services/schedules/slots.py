"""The balancer: spreads schedules over the slots of a day, on request."""

from longline.model.schedules.slots import Balance, hourly, rebalance
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore


class Balancer:
    """A balancer of all waiting schedules; a preview shows the effect of rebalancing at that moment."""

    def __init__(self, schedules: ScheduleStore, clock: Clock) -> None:
        self._schedules, self._clock = schedules, clock

    async def hours(self) -> list[int]:
        """Return the number of schedules due in each of the next 24 hours."""
        waiting = await self._schedules.waiting()
        return hourly((one.next_due for one in waiting if one.state != "running"), self._clock.now())

    async def preview(self) -> Balance:
        """Return the plan of a rebalancing now."""
        return rebalance(await self._schedules.waiting(), self._clock.now())

    async def apply(self) -> tuple[Balance, int]:
        """Rebalance; return the plan, and the number moved: schedules that were moved meanwhile are left alone."""
        balance = await self.preview()
        return balance, len(await self._schedules.shift(balance.shifts)) if balance.shifts else 0
