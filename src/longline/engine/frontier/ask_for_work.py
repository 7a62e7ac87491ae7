"""Asking other workers for work: hosts are leased whole, so one worker may have them all while another has none."""

from collections.abc import Awaitable, Callable

from longline.ports.clock import Clock

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


class WorkRequest:
    """Asks, ever more seldom for as long as nobody has anything to give."""

    def __init__(self, ask: Callable[[], Awaitable[None]], clock: Clock) -> None:
        self._ask, self._clock = ask, clock
        self._pause, self._next = FIRST_PAUSE, float("-inf")

    async def told(self, *, hungry: bool) -> None:
        """Hear whether there is nothing to do here."""
        now = self._clock.monotonic()
        if not hungry:
            self._pause, self._next = FIRST_PAUSE, float("-inf")
        elif now >= self._next:
            self._next, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PAUSE)
            await self._ask()
