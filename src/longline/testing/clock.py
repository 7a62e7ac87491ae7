"""A clock for tests that is moved by hand."""

import asyncio
import heapq
from itertools import count

START = 1_700_000_000_000


class FakeClock:
    """A clock that stands still until `advance` is called; sleepers that are due then wake in order."""

    def __init__(self, now: int = START) -> None:
        self._now = self._start = now
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        return self._now

    def wall(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return (self._now - self._start) / 1000

    def error(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait until `advance` has moved the clock this far."""
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + max(0, round(seconds * 1000)), next(self._order), woken))
        self.advance(0)
        await woken

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._now += round(seconds * 1000)
        while self._sleepers and self._sleepers[0][0] <= self._now:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)
