"""Requests for work to other workers: hosts are leased whole, so one worker may hold all while another has none."""

from collections.abc import Awaitable, Callable

from longline.ports.clock import Clock

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0


class WorkRequest:
    """The requests of one worker, with ever longer pauses while no host comes."""

    def __init__(self, ask: Callable[[], Awaitable[None]], clock: Clock) -> None:
        self._ask, self._clock = ask, clock
        self._pause, self._next = FIRST_PAUSE_SECONDS, float("-inf")

    async def send_if_due(self, *, idle: bool) -> None:
        """Send a request if the worker is `idle` and the pause is over; reset the pause if not `idle`."""
        now = self._clock.monotonic()
        if not idle:
            self._pause, self._next = FIRST_PAUSE_SECONDS, float("-inf")
        elif now >= self._next:
            self._next, self._pause = now + self._pause, min(2 * self._pause, MAX_PAUSE_SECONDS)
            await self._ask()
