"""Histograms: the upper bounds of their buckets, and their values."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate

import msgspec

SUM = "sum"
"""Part of a histogram that has the sum of its values, in microseconds."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of a histogram of seconds."""

_BUCKETS = tuple(map(str, range(len(SECONDS) + 1)))


class Histogram(msgspec.Struct, frozen=True):
    """Cumulative counts by upper bound, and the sum of all values in seconds."""

    at_most: tuple[tuple[str, int], ...]
    sum_seconds: float


def bucket_of(seconds: float) -> str:
    """Return the number of the bucket that a value belongs to."""
    return _BUCKETS[bisect_left(SECONDS, seconds)]


def histogram_of(found: Mapping[str, int]) -> Histogram:
    """Return the histogram of the counts of its buckets and of its sum, by the names of these parts."""
    sums = accumulate(found.get(str(number), 0) for number in range(len(SECONDS) + 1))
    bounds = (*map(str, SECONDS), "+Inf")
    return Histogram(tuple(zip(bounds, sums, strict=True)), found.get(SUM, 0) / 1_000_000)
