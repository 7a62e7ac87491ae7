"""Sinks of a single crawl: its items are sent while they come, and the rest at its end."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from longline.engine.loop_supervisor import Loop, cancel_on_stop, chore, run_until
from longline.engine.sinks.delivery import LOOK_INTERVAL_SECONDS, SinkDelivery
from longline.ports.clock import Clock

DELIVERY_TIMEOUT_SECONDS = 60.0
"""Longest time after the end of a crawl for which a sink may accept no item before the crawl waits no longer."""


class Undelivered(msgspec.Struct, frozen=True):
    """A sink for which items of a crawl still wait: its label, their number, and the last failure."""

    sink: str
    items: int
    problem: str = ""


class CrawlSinks:
    """The deliveries of the items of one run, side by side."""

    def __init__(
        self, deliveries: Sequence[SinkDelivery], clock: Clock, timeout_seconds: float = DELIVERY_TIMEOUT_SECONDS
    ) -> None:
        self._deliveries, self._clock, self._timeout = deliveries, clock, timeout_seconds

    async def open(self, run_id: int) -> None:
        """Assign the run to every sink."""
        for delivery in self._deliveries:
            await delivery.open(run_id)

    def loops(self) -> list[Loop]:
        """Return the loops that send items while they come, one for each sink."""
        return [cancel_on_stop(chore(delivery.once, LOOK_INTERVAL_SECONDS)) for delivery in self._deliveries]

    async def finish(self, stop: asyncio.Event) -> tuple[Undelivered, ...]:
        """Send all items that wait; return the sinks for which items still wait.

        A sink that accepts no item for some time is not waited for, and neither is any sink after a stop.
        """
        left = await asyncio.gather(*(self._finish(delivery, stop) for delivery in self._deliveries))
        return tuple(
            Undelivered(delivery.label, count, delivery.problem)
            for delivery, count in zip(self._deliveries, left, strict=True)
            if count
        )

    async def _finish(self, delivery: SinkDelivery, stop: asyncio.Event) -> int:
        least = left = await delivery.waiting()
        until = self._clock.monotonic() + self._timeout
        while left and not stop.is_set() and self._clock.monotonic() < until:
            # A delivery that is cut short goes on at its position.
            with suppress(TimeoutError):
                await run_until(stop, asyncio.wait_for(delivery.once(), self._timeout))
            left = await delivery.waiting()
            if left < least:
                least, until = left, self._clock.monotonic() + self._timeout
            elif left:
                await self._clock.sleep(LOOK_INTERVAL_SECONDS)
        return left
