"""The pace of a run: pages and failures a minute, in equal steps of its life."""

from collections.abc import Sequence

import msgspec

from longline.model.duration import DAY_MS, HOUR_MS, MINUTE_MS

MAX_STEPS = 60
"""Largest number of steps of a run's life, the one under way not counted."""

MIN_LIFE_MS = 5_000
"""Shortest life of which the pace says something."""

STEPS_MS = (
    *(seconds * 1000 for seconds in (1, 2, 5, 10, 15, 30)),
    *(minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * HOUR_MS for hours in (1, 2, 4, 6, 12)),
)


class PaceCount(msgspec.Struct, frozen=True):
    """The tasks that completed and failed in one step of a run's life; steps are numbered from 0."""

    step: int
    pages: int
    failures: int


class PacePoint(msgspec.Struct, frozen=True):
    """The pace in one step, which begins at `at`: pages and failures a minute."""

    at: int
    pages: float
    failures: float


def step_of_life(life_ms: int) -> int:
    """Return the length of the steps of a life."""
    fitting = (step for step in STEPS_MS if life_ms <= MAX_STEPS * step)
    return next(fitting, -(-life_ms // MAX_STEPS // DAY_MS) * DAY_MS)


def pace_points(counts: Sequence[PaceCount], begin: int, end: int, step_ms: int) -> list[PacePoint]:
    """Return a point for each step, also for steps without a task.

    The last step may not be over; its pace is that of as long a time, the end of the step before included.
    """
    last = max(0, end - 1 - begin) // step_ms
    pages, failures = [0.0] * (last + 1), [0.0] * (last + 1)
    for count in counts:
        # A task may end before the begin of a run that was opened again, or a moment after its end.
        place = min(max(count.step, 0), last)
        pages[place] += count.pages
        failures[place] += count.failures
    share = (end - begin - last * step_ms) / step_ms
    for found in (pages, failures):
        if last:
            found[last] += found[last - 1] * (1 - share)
        else:
            found[last] /= share
    minutes = step_ms / MINUTE_MS
    return [
        PacePoint(begin + place * step_ms, pages[place] / minutes, failures[place] / minutes)
        for place in range(last + 1)
    ]
