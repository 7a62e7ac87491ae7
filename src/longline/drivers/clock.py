"""The machine's clocks, and the engine's time that is computed from one of them."""

import asyncio
import time
from typing import NamedTuple

from longline.model.engine_clock import Anchor

# CLOCK_BOOTTIME also counts the time that a machine sleeps: a lease runs out then as well.
_MONOTONIC: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Followed(NamedTuple):
    """The relation of a monotonic clock to the engine's time.

    `ahead_ms` is the reference time less the monotonic time, known with an error of `error_ms`.
    """

    anchor: Anchor
    ahead_ms: float = 0.0
    error_ms: float = 0.0


class SystemClock:
    """The operating system's clocks; the engine's time after a call of `follow`.

    The wall clock is read for `wall` and, before the first database query, for `now`; nothing else here depends on it.
    """

    def __init__(self) -> None:
        self._followed: Followed | None = None

    def now(self) -> int:
        followed = self._followed
        if followed is None:
            return self.wall()
        return round(followed.anchor.engine_ms(self.monotonic() * 1000 + followed.ahead_ms))

    def wall(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.clock_gettime(_MONOTONIC)

    def error(self) -> float:
        return self._followed.error_ms / 1000 if self._followed else 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def follow(self, followed: Followed) -> None:
        """Compute the engine's time by this anchor from now on."""
        self._followed = followed
