"""A probe of the object store that is not repeated with every question about the health."""

from collections.abc import Awaitable, Callable

from longline.ports.clock import Clock

Probe = Callable[[], Awaitable[str]]

STORAGE_PROBE_SECONDS = 10.0
"""Largest age of a storage probe that was successful."""


class RecentProbe:
    """A probe whose success counts for some seconds; a failure is looked at again each time."""

    def __init__(self, probe: Probe, clock: Clock, max_age_seconds: float) -> None:
        self._probe, self._clock, self._max_age_seconds = probe, clock, max_age_seconds
        self._found = ""
        self._at = float("-inf")

    async def check(self) -> str:
        """Return the description of the store, of a recent probe if there is one."""
        if self._clock.monotonic() - self._at > self._max_age_seconds:
            self._found = await self._probe()
            self._at = self._clock.monotonic()
        return self._found
