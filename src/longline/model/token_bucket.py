"""The token bucket of bots and other callers: it is refilled steadily and holds one period's worth, usually a minute's.

Counted in whole numbers: a request costs a period's milliseconds, and every millisecond adds the limit.
"""

from typing import NamedTuple

from longline.model.duration import MINUTE_MS


class TokenBucket(NamedTuple):
    """The bucket after requests: the number granted, the tokens left, and the wait for the next request."""

    granted: int
    left: int
    wait_ms: int


def spend(
    left: int | None, since_ms: int, limit: int, times: int, *, period_ms: int = MINUTE_MS, returned: int = 0
) -> TokenBucket:
    """Grant up to `times` requests from a bucket that had `left` tokens `since_ms` ago; None means a full bucket.

    `limit` is the number of requests in a period, `returned` the number of granted requests that were not made.
    """
    full = limit * period_ms
    left = full if left is None else min(full, left + max(0, since_ms) * limit + returned * period_ms)
    granted = min(times, left // period_ms)
    left -= granted * period_ms
    return TokenBucket(granted, left, -(-max(0, period_ms - left) // limit))
