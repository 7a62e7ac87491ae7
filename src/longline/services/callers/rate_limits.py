"""Rate limits of callers, kept in the database for all processes.

A process takes some seconds' worth of requests from a caller's bucket at once, and grants them from memory: most
requests cost no write. Requests that a process does not use in time go back into the bucket with its next look, so that
no limit is ever exceeded.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from longline.model.bounded_dict import BoundedDict
from longline.model.callers.rate_limit import FORGET_AGE_MS, FORGET_INTERVAL_MS, RateLimit, RateLimitState
from longline.model.errors import LonglineError
from longline.ports.clock import Clock
from longline.ports.records.callers import RateLimitStore, Spending
from longline.services.group_commit import GroupCommit

AHEAD_SECONDS = 3
"""Seconds' worth of requests, or a hundredth of the limit, that a process takes ahead; it keeps them so long."""

MAX_CALLERS = 10_000
"""Largest number of callers with requests taken ahead."""


class TooOften(LonglineError):
    """A caller exceeded its rate limit; its next request is accepted after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"Rate limit exceeded, try again in {self.seconds} seconds")


class _Taken(msgspec.Struct):
    """Requests that were taken ahead, the time until which they may be used, and the bucket that they came from."""

    left: int
    until: int
    spare: int
    spare_at: int

    def tokens(self, limit: RateLimit, now: int) -> int:
        """Return the tokens of the caller now, as far as this process knows."""
        refilled = self.spare + max(0, now - self.spare_at) * limit.requests
        return min(limit.full, refilled + self.left * limit.period_ms)


class RateLimits:
    """The rate limits of all callers."""

    def __init__(self, store: RateLimitStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._taken: BoundedDict[str, _Taken] = BoundedDict(MAX_CALLERS)
        self._spending: GroupCommit[tuple[str, RateLimit], int] = GroupCommit(self._spend, lambda _: object())
        self._forget_at = clock.now() + FORGET_INTERVAL_MS

    async def check(self, name: str, per_minute: int) -> None:
        """Count one request of a caller; raise `TooOften` beyond its limit."""
        wait_ms = await self._charge(name, RateLimit(per_minute))
        if wait_ms:
            raise TooOften(wait_ms / 1000)

    async def charge(self, name: str, limits: Sequence[RateLimit]) -> RateLimitState:
        """Count one request of a caller under several limits; return the state of the tightest one.

        A request that one limit refuses is not counted under the others.
        """
        names = [f"{name}/{limit.name}" if limit.name else name for limit in limits]
        waits_ms = await asyncio.gather(*map(self._charge, names, limits))
        if any(waits_ms):
            self._return(each for each, wait_ms in zip(names, waits_ms, strict=True) if not wait_ms)
        states = [self._state(*each) for each in zip(names, limits, waits_ms, strict=True)]
        return min(states, key=lambda state: (-state.wait_ms, state.remaining))

    async def _charge(self, name: str, limit: RateLimit) -> int:
        """Count one request; return the wait in milliseconds, 0 for a granted one."""
        return 0 if self._use(name) else await self._spending((name, limit))

    def _state(self, name: str, limit: RateLimit, wait_ms: int) -> RateLimitState:
        taken = self._taken.get(name)
        tokens = 0 if taken is None else taken.tokens(limit, self._clock.now())
        remaining = 0 if wait_ms else tokens // limit.period_ms
        reset_at = self._clock.wall() - (tokens - limit.full) // limit.requests
        return RateLimitState(limit.requests, remaining, reset_at, wait_ms)

    def _return(self, names: Iterable[str]) -> None:
        for name in names:
            if (taken := self._taken.get(name)) is not None:
                taken.left += 1

    def _use(self, name: str) -> bool:
        """Return whether a request taken ahead was there to be used."""
        taken = self._taken.get(name)
        if taken is None or taken.left < 1 or self._clock.now() >= taken.until:
            return False
        taken.left -= 1
        return True

    async def _spend(self, calls: Sequence[tuple[str, RateLimit]]) -> list[int]:
        """Charge calls, and some requests ahead, in one transaction; earlier calls are granted first."""
        limits, counts = dict(calls), Counter(name for name, _ in calls)
        unused = {name: taken.left for name in limits if (taken := self._taken.pop(name, None)) is not None}
        wanted = [
            Spending(name, limit.requests, counts[name] + _ahead(limit), unused.get(name, 0), limit.period_ms)
            for name, limit in limits.items()
        ]
        buckets = await self._store.spend(wanted)
        now, left = self._clock.now(), {name: bucket.granted for name, bucket in buckets.items()}
        waits_ms = []
        for name, _ in calls:
            waits_ms.append(0 if left[name] > 0 else max(1, buckets[name].wait_ms))
            left[name] -= 1
        for name, more in left.items():
            self._taken[name] = _Taken(max(0, more), now + AHEAD_SECONDS * 1000, buckets[name].left, now)
        await self._forget()
        return waits_ms

    async def _forget(self) -> None:
        if self._clock.now() >= self._forget_at:
            self._forget_at = self._clock.now() + FORGET_INTERVAL_MS
            await self._store.forget(FORGET_AGE_MS)


def _ahead(limit: RateLimit) -> int:
    return max(limit.requests * AHEAD_SECONDS // limit.period_seconds, limit.requests // 100)
