"""The balancer: spreads schedules over the slots of a day, when somebody asks for it."""

from longline.model.schedules.slots import Balance, hourly, rebalance
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore


class Balancer:
    """Looks at everybody who waits; what it previews is what it would do at that moment."""

    def __init__(self, schedules: ScheduleStore, clock: Clock) -> None:
        self._schedules, self._clock = schedules, clock

    async def hours(self) -> list[int]:
        """How many schedules run in each of the next 24 hours."""
        waiting = await self._schedules.waiting()
        return hourly((one.next_due for one in waiting if one.state != "running"), self._clock.now())

    async def preview(self) -> Balance:
        """What a rebalancing would do now."""
        return rebalance(await self._schedules.waiting(), self._clock.now())

    async def apply(self) -> tuple[Balance, int]:
        """Rebalance; what was meant, and how many really moved because nobody else had moved them meanwhile."""
        balance = await self.preview()
        return balance, len(await self._schedules.shift(balance.shifts)) if balance.shifts else 0
