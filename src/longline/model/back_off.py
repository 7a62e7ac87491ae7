"""Exponential back-off."""

from typing import TypeVar

MAX_DOUBLINGS = 40
"""Largest number of doublings, so that numbers stay small whatever is counted."""

N = TypeVar("N", int, float)


def back_off(first: N, failures: int, longest: N) -> N:
    """Return the wait after a failure: the first wait, doubled for each failure before, and at most the longest."""
    return min(first * (1 << min(max(failures, 0), MAX_DOUBLINGS)), longest)
