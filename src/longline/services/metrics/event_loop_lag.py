"""Event loop lag: a monitor that sleeps for a short time and measures by how much it wakes too late.

Part of a delay may be run delay: the thread was ready to run, and the operating system ran other threads. The rest is a
block: a callback that takes long, or another thread that holds the interpreter.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate

import msgspec

from longline.ports.clock import Clock

INTERVAL_SECONDS = 0.01
"""Time between two looks, by which a block may be shown as longer than it was."""
BOUNDS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histograms' buckets."""

KEPT_SECONDS = 60.0
"""Time for which the longest delay is shown at least."""


class Delays(msgspec.Struct, frozen=True):
    """Delays so far: cumulative counts by upper bound, total count, sum, and the longest recent delay."""

    at_most: tuple[tuple[float, int], ...]
    count: int
    sum_seconds: float
    longest_seconds: float


class _DelayCounts:
    """A histogram of delays, with the longest of the last one to two minutes."""

    def __init__(self, now: float) -> None:
        self._counts = [0] * (len(BOUNDS_SECONDS) + 1)
        self._sum = 0.0
        self._began = now
        self._longest, self._longest_before = 0.0, 0.0

    def add(self, seconds: float, now: float) -> None:
        self._counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self._sum += seconds
        if now >= self._began + KEPT_SECONDS:
            self._began, self._longest_before, self._longest = now, self._longest, 0.0
        self._longest = max(self._longest, seconds)

    def read(self) -> Delays:
        sums = list(accumulate(self._counts))
        longest = max(self._longest, self._longest_before)
        return Delays(tuple(zip(BOUNDS_SECONDS, sums, strict=False)), sums[-1], self._sum, longest)


class LoopMonitor:
    """A monitor of the delays of its own event loop; `run_delay` returns the run delay of its thread in seconds."""

    def __init__(self, clock: Clock, run_delay: Callable[[], float] = lambda: 0.0) -> None:
        self._clock, self._run_delay = clock, run_delay
        self._lags, self._blocks = _DelayCounts(clock.monotonic()), _DelayCounts(clock.monotonic())
        self.run_delay_seconds = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Measure until `stop` is set."""
        before = self._run_delay()
        while not stop.is_set():
            due = self._clock.monotonic() + INTERVAL_SECONDS
            await asyncio.sleep(INTERVAL_SECONDS)
            late, after = max(0.0, self._clock.monotonic() - due), self._run_delay()
            self.note(late, after - before)
            before = after

    def note(self, seconds: float, run_delay: float = 0.0) -> None:
        """Count one delay, and the run delay since the last one."""
        # Up to one interval of the run delay may be from before the moment at which the loop was due.
        block = seconds - min(seconds, max(0.0, run_delay - INTERVAL_SECONDS))
        now = self._clock.monotonic()
        self._lags.add(seconds, now)
        self._blocks.add(block, now)
        self.run_delay_seconds += run_delay

    def lag(self) -> Delays:
        """Return the delays so far."""
        return self._lags.read()

    def blocks(self) -> Delays:
        """Return the delays so far less their run delays; none is shorter than the program held the loop."""
        return self._blocks.read()

    async def check(self) -> str:
        """Return the longest recent block and delay, as a health check."""
        block, lag = self.blocks().longest_seconds, self.lag().longest_seconds
        return f"longest block {block * 1000:.0f} ms, longest delay {lag * 1000:.0f} ms"
