"""A circuit breaker for requests to a service that has failed."""


class CircuitBreaker:
    """A circuit breaker: `failures` in a row open it for `pause` seconds, `successes` in a row close it again."""

    def __init__(self, failures: int = 5, pause: float = 30.0, successes: int = 2) -> None:
        self._max_failures, self._pause, self._min_successes = failures, pause, successes
        self._failures = self._successes = 0
        self._open_until: float | None = None

    def allows(self, now: float) -> bool:
        """Return whether a request may be sent now."""
        return self._open_until is None or now >= self._open_until

    def note(self, now: float, *, ok: bool) -> None:
        """Note the result of a request; while the breaker is not closed, one failure starts the pause again."""
        if not ok:
            self._failures, self._successes = self._failures + 1, 0
            if self._failures >= self._max_failures or self._open_until is not None:
                self._open_until = now + self._pause
            return
        self._failures, self._successes = 0, self._successes + 1
        if self._successes >= self._min_successes:
            self._open_until = None
