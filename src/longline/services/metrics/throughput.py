"""Throughput of all workers: rates of now, curves over a window, and failures by reason."""

import msgspec

from longline.model.metrics.throughput import ThroughputPoint, ThroughputWindow, points_of, sums_by_reason
from longline.ports.clock import Clock
from longline.ports.records.metrics import ThroughputStore


class ThroughputView(msgspec.Struct, frozen=True):
    """The throughput of a window. The last point is a step that has not ended."""

    window: ThroughputWindow
    points: list[ThroughputPoint]
    reasons: list[tuple[str, int]]
    now: int

    def total(self, measure: str) -> int:
        """Return the sum over the window."""
        return sum(int(getattr(point, measure)) for point in self.points)

    def rates(self, measure: str) -> list[float]:
        """Return the rates per second of all steps; the last one is that of now."""
        whole = [getattr(point, measure) * 1000 / self.window.step_ms for point in self.points[:-1]]
        return [*whole, self.rate(measure)]

    def rate(self, measure: str) -> float:
        """Return the rate per second over the last step's length, the end of the step before included."""
        if not self.points:
            return 0.0
        last, step = self.points[-1], self.window.step_ms
        before = getattr(self.points[-2], measure) if len(self.points) > 1 else 0
        elapsed = min(step, max(0, self.now - last.at))
        return float((getattr(last, measure) + before * (step - elapsed) / step) * 1000 / step)


class Throughput:
    """Reader of the throughput."""

    def __init__(self, store: ThroughputStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def read(self, window: ThroughputWindow) -> ThroughputView:
        """Return the throughput of a window up to now."""
        now = self._clock.now()
        counts = await self._store.find(window, now)
        return ThroughputView(window, points_of(counts, window, now), sums_by_reason(counts), now)
