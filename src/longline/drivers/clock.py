"""The machine's clock."""

import asyncio
import time


class SystemClock:
    """Time as the operating system tells it."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
