"""Event loop lag: a monitor that sleeps for a short time and measures by how much it wakes too late."""

import asyncio
from bisect import bisect_left
from itertools import accumulate

import msgspec

from longline.ports.clock import Clock

INTERVAL_SECONDS = 0.02
BOUNDS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram's buckets."""

KEPT_SECONDS = 60.0
"""Time for which the longest delay is shown at least."""


class LoopLag(msgspec.Struct, frozen=True):
    """Delays of the loop so far: cumulative counts by upper bound, total count, sum, and the longest recent delay."""

    at_most: tuple[tuple[float, int], ...]
    count: int
    sum_seconds: float
    longest_seconds: float


class LoopMonitor:
    """A monitor of the delays of its own event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts = [0] * (len(BOUNDS_SECONDS) + 1)
        self._sum = 0.0
        self._began = clock.monotonic()
        self._longest, self._longest_before = 0.0, 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Measure until `stop` is set."""
        while not stop.is_set():
            due = self._clock.monotonic() + INTERVAL_SECONDS
            await asyncio.sleep(INTERVAL_SECONDS)
            self.note(max(0.0, self._clock.monotonic() - due))

    def note(self, seconds: float) -> None:
        """Count one delay."""
        self._counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self._sum += seconds
        now = self._clock.monotonic()
        if now >= self._began + KEPT_SECONDS:
            self._began, self._longest_before, self._longest = now, self._longest, 0.0
        self._longest = max(self._longest, seconds)

    def lag(self) -> LoopLag:
        """Return the delays so far; the longest is of the last one to two minutes."""
        sums = list(accumulate(self._counts))
        longest = max(self._longest, self._longest_before)
        return LoopLag(tuple(zip(BOUNDS_SECONDS, sums, strict=False)), sums[-1], self._sum, longest)

    async def check(self) -> str:
        """Return the longest recent delay, as a health check."""
        return f"longest block {self.lag().longest_seconds * 1000:.0f} ms"
