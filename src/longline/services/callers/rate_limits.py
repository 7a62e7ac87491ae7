"""Rate limits of callers, kept in the database for all processes.

A process takes some seconds' worth of requests from a caller's bucket at once, and grants them from memory: most
requests cost no write. What a process does not use in time is lost to the caller, so that no limit is ever exceeded.
"""

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from longline.model.bounded_dict import BoundedDict
from longline.model.errors import LonglineError
from longline.ports.clock import Clock
from longline.ports.records.callers import RateLimitStore, Spending
from longline.services.group_commit import GroupCommit

AHEAD_SECONDS = 3
"""Seconds' worth of requests that a process takes ahead, and for which it keeps them."""

MAX_CALLERS = 10_000
"""Largest number of callers with requests taken ahead."""

FORGET_INTERVAL_MS = 600_000
"""Milliseconds between two deletions of full buckets, and the age of the deleted ones; a bucket fills in a minute."""


class TooOften(LonglineError):
    """A caller exceeded its rate limit; its next request is accepted after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"Rate limit exceeded, try again in {self.seconds} seconds")


class _Taken(msgspec.Struct):
    """Requests that were taken ahead, and the time until which they may be used."""

    left: int
    until: int


class _Grant(msgspec.Struct, frozen=True):
    """The outcome of one request: the wait in milliseconds, 0 for a granted one."""

    wait_ms: int = 0


class RateLimits:
    """The rate limits of all callers."""

    def __init__(self, store: RateLimitStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._taken: BoundedDict[str, _Taken] = BoundedDict(MAX_CALLERS)
        self._spending: GroupCommit[tuple[str, int], _Grant] = GroupCommit(self._spend, lambda _: object())
        self._forget_at = clock.now() + FORGET_INTERVAL_MS

    async def check(self, name: str, per_minute: int) -> None:
        """Count one request of a caller; raise `TooOften` beyond its limit."""
        if self._use(name):
            return
        grant = await self._spending((name, per_minute))
        if grant.wait_ms:
            raise TooOften(grant.wait_ms / 1000)

    def _use(self, name: str) -> bool:
        """Return whether a request taken ahead was there to be used."""
        taken = self._taken.get(name)
        if taken is None or taken.left < 1 or self._clock.now() >= taken.until:
            return False
        taken.left -= 1
        return True

    async def _spend(self, calls: Sequence[tuple[str, int]]) -> list[_Grant]:
        """Charge calls, and some requests ahead, in one transaction; earlier calls are granted first."""
        limits, counts = dict(calls), Counter(name for name, _ in calls)
        wanted = [Spending(name, limits[name], counts[name] + _ahead(limits[name])) for name in limits]
        buckets = await self._store.spend(wanted)
        until, left = self._clock.now() + AHEAD_SECONDS * 1000, {name: b.granted for name, b in buckets.items()}
        grants = []
        for name, _ in calls:
            grants.append(_Grant(0 if left[name] > 0 else max(1, buckets[name].wait_ms)))
            left[name] -= 1
        for name, more in left.items():
            self._taken[name] = _Taken(more, until)
        await self._forget()
        return grants

    async def _forget(self) -> None:
        if self._clock.now() >= self._forget_at:
            self._forget_at = self._clock.now() + FORGET_INTERVAL_MS
            await self._store.forget(FORGET_INTERVAL_MS)


def _ahead(per_minute: int) -> int:
    return per_minute * AHEAD_SECONDS // 60
