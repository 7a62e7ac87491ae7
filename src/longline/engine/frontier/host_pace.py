"""The pace of a leased host: its delay and concurrency, by the plans of recent tasks and the host's own limits."""

from collections.abc import Callable

from longline.model.back_off import back_off
from longline.model.frontier.host import (
    BACK_OFF_SPREAD,
    FIRST_BACK_OFF_SECONDS,
    MAX_BACK_OFF_SECONDS,
    POLITEST_PACE_SECONDS,
    HostLease,
    HostPace,
)


class Pace:
    """The seconds between requests, and requests at once: as in the lease, and no less polite before `until`."""

    def __init__(self, lease: HostLease, until: float) -> None:
        self.delay, self.concurrency = lease.delay_ms / 1000, lease.concurrency
        self._written = lease.delay_ms, lease.concurrency
        self._slow_until = self._few_until = until
        self._imposed = False
        self._throttles = 0

    def apply_politeness(self, delay: float, concurrency: int, now: float) -> None:
        """Apply the delay and concurrency of a task, unless politer values were applied lately."""
        if concurrency <= self.concurrency or now >= self._few_until:
            self.concurrency, self._few_until = concurrency, now + POLITEST_PACE_SECONDS
        self.slow_down(delay, now)

    def slow_down(self, delay: float, now: float) -> None:
        """Apply a delay between requests, unless a longer delay was applied lately."""
        if delay >= self.delay or now >= self._slow_until:
            self.delay, self._slow_until = delay, max(self._slow_until, now + POLITEST_PACE_SECONDS)

    def impose(self, delay: float, until: float) -> None:
        """Apply at least this delay until a moment, even if tasks want a shorter delay."""
        self._imposed = True
        self.delay, self._slow_until = max(self.delay, delay), max(self._slow_until, until)

    def throttled(self, chance: float) -> float:
        """Return the seconds to leave the host alone after it throttled a request without a Retry-After.

        Doubled with every throttling in a row; `chance`, from 0 to 1, spreads workers that were throttled together.
        """
        wait = back_off(FIRST_BACK_OFF_SECONDS, self._throttles, MAX_BACK_OFF_SECONDS)
        self._throttles += 1
        least, most = BACK_OFF_SPREAD
        return max(wait * (least + chance * (most - least)), self.delay)

    def eased(self) -> None:
        """Reset the count of throttlings: the host answers normally."""
        self._throttles = 0

    def changed(self, engine_time: Callable[[float], int]) -> HostPace | None:
        """Return the pace to be stored, in the engine's time; None for the lease's own values unless imposed."""
        now = round(self.delay * 1000), self.concurrency
        if now == self._written and not self._imposed:
            return None
        return HostPace(now[0], engine_time(self._slow_until), now[1])
