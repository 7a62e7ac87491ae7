"""Holds: times during which the waiting tasks of a run are left alone."""

from typing import Literal

import msgspec

from longline.model.duration import DAY_MS, DAY_SECONDS

HoldReason = Literal["disabled", "maintenance"]

ENDLESS_MS = 253_402_300_800_000
"""End, in the year 10000, of a hold that a person lifts."""


class HoldWindow(msgspec.Struct, frozen=True):
    """Times of the day in seconds from midnight UTC: the first is held, the last is not.

    A window whose end is before its beginning goes over midnight.
    """

    run_id: int
    from_second: int
    to_second: int

    def occurrence(self, now_ms: int) -> tuple[int, int]:
        """Return the beginning and the end of the window that holds now, or of the next one."""
        midnight = now_ms - now_ms % DAY_MS
        length = (self.to_second - self.from_second) % DAY_SECONDS * 1000
        since = midnight + self.from_second * 1000 - DAY_MS
        while since + length <= now_ms:
            since += DAY_MS
        return since, since + length


class Hold(msgspec.Struct, frozen=True):
    """A hold of a run, from `since` until `until`, in UTC milliseconds."""

    run_id: int
    why: HoldReason
    since: int
    until: int = ENDLESS_MS
