"""Throughput: pages, bytes, requests and failures of all workers, by the minute and by the hour.

A process adds its counts with the periodic flush of its counters, not with each report (docs/decisions/0101).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from longline.model.duration import DAY_MS, HOUR_MS, MINUTE_MS
from longline.model.frontier.reasons import WITHOUT_REQUEST, is_request_failure
from longline.model.metrics.metric import ARCHIVED_PAGES, FETCH_BYTES, FETCHES, NO_STATUS

Measure = Literal["pages", "bytes", "requests", "failures"]

MINUTES_KEPT_MS = 2 * DAY_MS
HOURS_KEPT_MS = 90 * DAY_MS


class ThroughputCount(msgspec.Struct, frozen=True):
    """A count in one step of time; failures have a reason, other measures have none."""

    at: int
    measure: Measure
    reason: str
    count: int


class WorkerThroughput(msgspec.Struct, frozen=True):
    """The counts of one process since its last flush, by measure and reason."""

    worker: str
    counts: Mapping[tuple[str, str], int]


class ThroughputPoint(msgspec.Struct, frozen=True):
    """The throughput of one step of time, from `at` on."""

    at: int
    pages: int = 0
    bytes: int = 0
    requests: int = 0
    failures: int = 0


class ThroughputWindow(msgspec.Struct, frozen=True):
    """A span of time up to now in equal steps; long windows read the sums of hours."""

    name: str
    span_ms: int
    step_ms: int

    @property
    def by_hour(self) -> bool:
        """Return whether the window reads sums of hours."""
        return self.step_ms >= HOUR_MS


WINDOWS = {
    window.name: window
    for window in (
        ThroughputWindow("15m", 15 * MINUTE_MS, MINUTE_MS),
        ThroughputWindow("1h", HOUR_MS, MINUTE_MS),
        ThroughputWindow("6h", 6 * HOUR_MS, 5 * MINUTE_MS),
        ThroughputWindow("2d", 2 * DAY_MS, HOUR_MS),
        ThroughputWindow("90d", 90 * DAY_MS, DAY_MS),
    )
}
"""Windows that people choose from, by name."""


def throughput_of(counts: Mapping[tuple[str, ...], int]) -> dict[tuple[str, str], int]:
    """Return the throughput in the counts of a process, by measure and reason."""
    found = Counter[tuple[str, str]]()
    for (name, *labels), count in counts.items():
        if name == FETCHES.name:
            status, reason, _ = labels
            # Failures before any request are counted with the fetches, which tell all reasons.
            if status == NO_STATUS and reason in WITHOUT_REQUEST:
                continue
            found["requests", ""] += count
            if is_request_failure(reason):
                found["failures", reason] += count
        elif name == FETCH_BYTES.name:
            found["bytes", ""] += count
        elif name == ARCHIVED_PAGES.name:
            found["pages", ""] += count
    return {key: count for key, count in found.items() if count}


def points_of(counts: Sequence[ThroughputCount], window: ThroughputWindow, now: int) -> list[ThroughputPoint]:
    """Return a point for each step of a window up to now, also for steps without a count."""
    step, sums, none = window.step_ms, dict[int, Counter[str]](), Counter[str]()
    for one in counts:
        sums.setdefault(one.at - one.at % step, Counter())[one.measure] += one.count
    last = now - now % step
    first = last - window.span_ms + step
    return [ThroughputPoint(at, **sums.get(at, none)) for at in range(first, last + 1, step)]


def sums_by_reason(counts: Sequence[ThroughputCount]) -> list[tuple[str, int]]:
    """Return the failures by reason, the most frequent first."""
    found = Counter[str]()
    for one in counts:
        if one.measure == "failures":
            found[one.reason] += one.count
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
