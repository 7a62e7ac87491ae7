"""The end of a crawl with sinks."""

import asyncio
from typing import Any, cast

from longline.services.sinks.crawl_sinks import CrawlSinks, Undelivered
from longline.testing.clock import FakeClock


class PassingClock(FakeClock):
    """A clock that a sleep moves forward."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


class Delivery:
    """A delivery that sends one item at each call, as many as it accepts."""

    def __init__(self, label: str, waiting: int, accepted: int) -> None:
        self.label, self.left, self.accepted = label, waiting, accepted
        self.problem = "away"

    async def once(self) -> int:
        sent = min(1, self.accepted, self.left)
        self.accepted -= sent
        self.left -= sent
        return sent

    async def waiting(self) -> int:
        return self.left


async def finish(*deliveries: Delivery, stopped: bool = False) -> tuple[Undelivered, ...]:
    stop = asyncio.Event()
    if stopped:
        stop.set()
    return await CrawlSinks(cast(Any, deliveries), PassingClock(), 2.0).finish(stop)


async def test_a_crawl_waits_for_its_sinks_but_not_for_one_that_accepts_nothing():
    assert await finish(Delivery("a", 9, 9), Delivery("b", 5, 2)) == (Undelivered("b", 3, "away"),)


async def test_a_stop_ends_the_wait():
    assert await finish(Delivery("a", 2, 2), stopped=True) == (Undelivered("a", 2, "away"),)
