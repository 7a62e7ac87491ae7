"""A clock that stands still until it is moved."""


class HandClock:
    """A clock that a test moves."""

    def __init__(self, millis: int = 1_700_000_000_000) -> None:
        self.millis = millis

    def now(self) -> int:
        return self.millis

    def wall(self) -> int:
        return self.millis

    def monotonic(self) -> float:
        return self.millis / 1000

    def error(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.millis += round(seconds * 1000)
