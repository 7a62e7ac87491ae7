"""Time, as a thing that tests can hold."""

from typing import Protocol


class Clock(Protocol):
    """One source of time. Wall times are UTC milliseconds; waiting is done on the monotonic clock, in seconds."""

    def now(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go up."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait, letting others run."""
        ...
