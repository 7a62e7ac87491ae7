"""Time, behind an interface that tests can control."""

from typing import Protocol


class Clock(Protocol):
    """Source of time for one process: the engine's time in UTC milliseconds, and a monotonic clock to wait by.

    The engine's time comes from the database and goes on by the monotonic clock. It does not follow a wall clock that
    is set, so times of several processes can be compared. `docs/decisions/0039-engine-time.md` has the reasons.
    """

    def now(self) -> int:
        """Return the engine's time, in milliseconds since 1970, UTC."""
        ...

    def wall(self) -> int:
        """Return the wall clock's time, in milliseconds since 1970, UTC: for times that other services have written."""
        ...

    def monotonic(self) -> float:
        """Return monotonic seconds."""
        ...

    def error(self) -> float:
        """Return the largest difference in seconds between `now` and the engine's time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Sleep without blocking the event loop."""
        ...
