"""How often somebody may come: so many times a minute, saved up to one minute's worth.

Counted in whole numbers: coming once costs a minute's milliseconds, and every millisecond brings `per_minute` back.
"""

from typing import NamedTuple

ONCE = 60_000


class TokenBucket(NamedTuple):
    """What became of those who came: how many of them may, what is left then, and how long the others wait."""

    granted: int
    left: int
    wait_ms: int


def spend(left: int | None, since_ms: int, per_minute: int, times: int) -> TokenBucket:
    """Let somebody come so many times who had `left` so long ago; None for one who never came."""
    full = per_minute * ONCE
    left = full if left is None else min(full, left + max(0, since_ms) * per_minute)
    granted = min(times, left // ONCE)
    left -= granted * ONCE
    return TokenBucket(granted, left, -(-max(0, ONCE - left) // per_minute))
