"""The pace of a host in hand: how polite one is there, by what was asked for lately and by what the host wants."""

from collections.abc import Callable

from longline.model.frontier.host import HostLease, HostPace

LATELY = 30.0
"""Seconds for which the politest that somebody asks for at a host goes for everybody else there."""

FIRST_PATIENCE = 2.0
MAX_PATIENCE = 300.0


class Pace:
    """Seconds between two requests, and requests at once: those of its lease, and no less polite before `until`."""

    def __init__(self, lease: HostLease, until: float) -> None:
        self.delay, self.concurrency = lease.delay_ms / 1000, lease.concurrency
        self._written = lease.delay_ms, lease.concurrency
        self._slow_until = self._few_until = until
        self._imposed = False
        self._throttles = 0

    def heed(self, delay: float, concurrency: int, now: float) -> None:
        """Go by what a task asks for, unless something politer was asked for lately."""
        if concurrency <= self.concurrency or now >= self._few_until:
            self.concurrency, self._few_until = concurrency, now + LATELY
        self.slow_down(delay, now)

    def slow_down(self, delay: float, now: float) -> None:
        """Let this much time pass between two requests, unless more was asked for lately."""
        if delay >= self.delay or now >= self._slow_until:
            self.delay, self._slow_until = delay, max(self._slow_until, now + LATELY)

    def impose(self, delay: float, until: float) -> None:
        """Let at least this much time pass between two requests up to that moment, whatever is asked for."""
        self._imposed = True
        self.delay, self._slow_until = max(self.delay, delay), max(self._slow_until, until)

    def throttled(self, chance: float) -> float:
        """Seconds to leave the host alone after it asked for patience without saying how much.

        Doubled with every such answer in a row; `chance`, from 0 to 1, spreads those who were told so together.
        """
        wait = min(FIRST_PATIENCE * 2**self._throttles, MAX_PATIENCE)
        self._throttles = min(self._throttles + 1, 16)
        return float(max(wait * (0.5 + chance), self.delay))

    def eased(self) -> None:
        """The host answers as it should."""
        self._throttles = 0

    def changed(self, engine_time: Callable[[float], int]) -> HostPace | None:
        """What is to be written down, if that is not what the lease says; by the clock of the engine."""
        now = round(self.delay * 1000), self.concurrency
        if now == self._written and not self._imposed:
            return None
        return HostPace(now[0], engine_time(self._slow_until), now[1])
