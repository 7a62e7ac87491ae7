"""Selection of proxies: the order in which the usable proxies of a pool serve requests.

Pure rules. The driver that stores proxies reads candidates and calls `choose_several`.
"""

from collections.abc import Callable, Sequence

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.proxies.proxy import ProxyRequest
from longline.model.proxies.proxy_health import ProxyCandidate, health_score

SLOT_MS = 300_000
"""Milliseconds of a slot in which requests are counted, five minutes: thirteen slots cover any hour that ends now."""


# Choosing


def choose_several(
    pool: Sequence[ProxyCandidate], ask: ProxyRequest, now: int, draw: Callable[[int], int]
) -> list[int]:
    """Return the ids of the next proxies in order, each chosen as if requested alone."""
    seen, dealt = {c.id: c for c in pool}, list[int]()
    latest = max((c.turn for c in pool), default=0)
    while len(dealt) < ask.wanted and (next_one := choose(list(seen.values()), ask, now, draw)):
        latest += 1
        dealt.append(next_one.id)
        seen[next_one.id] = msgspec.structs.replace(next_one, turn=latest, room=next_one.room - 1, last_used_at=now)
    return dealt


def choose(
    pool: Sequence[ProxyCandidate], ask: ProxyRequest, now: int, draw: Callable[[int], int]
) -> ProxyCandidate | None:
    """Return the next candidate, or None when none is usable; `draw(n)` is a random number below n."""
    line = sorted((c for c in pool if c.is_usable(now) and _fits(c, ask)), key=_place)
    if not line:
        return None
    if ask.strategy == "health":
        return max(line, key=lambda c: health_score(c, now))  # the first of equals, which is the least recently used
    if ask.strategy == "random3":
        return line[draw(min(3, len(line)))]
    if ask.strategy == "geo":
        last = max(pool, key=lambda c: c.turn)
        elsewhere = [c for c in line if not last.turn or (c.provider, c.country) != (last.provider, last.country)]
        return (elsewhere or line)[0]
    return line[0]


def _fits(candidate: ProxyCandidate, ask: ProxyRequest) -> bool:
    return candidate.id not in ask.exclude and ask.country in (None, candidate.country)


def _place(candidate: ProxyCandidate) -> tuple[int, int, int, int, int]:
    """Return the sort key: least recently used first; then by priority in a source's pool, by speed in other pools."""
    unknown = candidate.avg_ms is None
    speed = (0, 0) if candidate.mapped else (int(unknown), candidate.avg_ms or 0)
    return candidate.turn, *speed, candidate.priority, candidate.id


def first_slot(now: int) -> int:
    """Return the oldest slot of the hour that ends now; the slot counts whole, so no hour exceeds its limit."""
    return (now - HOUR_MS) // SLOT_MS
