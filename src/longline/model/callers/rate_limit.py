"""Rate limits that an API declares for its callers, and the state of a limit for the headers of responses."""

from typing import NamedTuple

import msgspec

from longline.model.callers.caller import Caller
from longline.model.duration import HOUR_MS

CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})

FORGET_INTERVAL_MS = 600_000
"""Milliseconds between two deletions of full buckets."""

FORGET_AGE_MS = HOUR_MS
"""Age of the buckets that are deleted; the longest period of a limit is an hour, after which a bucket is full."""


class RateLimit(msgspec.Struct, frozen=True):
    """A number of requests in a period; its bucket holds one period's worth.

    `methods` narrows the limit to some methods, all if empty. Limits of one caller are counted apart by their names.
    """

    requests: int
    period_seconds: int = 60
    name: str = ""
    methods: frozenset[str] = frozenset()

    @property
    def period_ms(self) -> int:
        """The period in milliseconds."""
        return self.period_seconds * 1000

    @property
    def full(self) -> int:
        """The tokens of a full bucket: a request costs a period's milliseconds."""
        return self.requests * self.period_ms


class RateLimitPolicy(msgspec.Struct, frozen=True):
    """The rate limits of an API: for callers with credentials, and for addresses that sent none or wrong ones.

    An empty `addresses` means the limits of callers, None no limits.
    """

    callers: tuple[RateLimit, ...]
    addresses: tuple[RateLimit, ...] | None = ()

    def limits_of(self, caller: Caller | None, method: str) -> list[RateLimit]:
        """Return the limits of a request; the limit of an API key replaces those that hold for all methods."""
        is_known = caller is not None and caller.kind != "anonymous"
        of_addresses = () if self.addresses is None else self.addresses or self.callers
        limits = list(self.callers if is_known else of_addresses)
        if caller is not None and caller.per_minute is not None:
            limits = [RateLimit(caller.per_minute), *(each for each in limits if each.methods)]
        return [each for each in limits if not each.methods or method in each.methods]


class RateLimitState(NamedTuple):
    """The state of a limit after a request: requests left, and the time at which all are there again (UTC, ms).

    `wait_ms` is the wait for the next request if this one was refused, else 0.
    """

    limit: int
    remaining: int
    reset_at: int
    wait_ms: int = 0
