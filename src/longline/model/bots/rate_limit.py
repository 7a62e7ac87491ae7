"""The rate limit of bots: a token bucket that is refilled by the minute and holds one minute's worth.

Counted in whole numbers: a request costs a minute's milliseconds, and every millisecond adds `per_minute`.
"""

from typing import NamedTuple

MINUTE_MS = 60_000


class TokenBucket(NamedTuple):
    """The bucket after requests: the number granted, the tokens left, and the wait for the next request."""

    granted: int
    left: int
    wait_ms: int


def spend(left: int | None, since_ms: int, per_minute: int, times: int) -> TokenBucket:
    """Grant up to `times` requests from a bucket that had `left` tokens `since_ms` ago; None means a full bucket."""
    full = per_minute * MINUTE_MS
    left = full if left is None else min(full, left + max(0, since_ms) * per_minute)
    granted = min(times, left // MINUTE_MS)
    left -= granted * MINUTE_MS
    return TokenBucket(granted, left, -(-max(0, MINUTE_MS - left) // per_minute))
