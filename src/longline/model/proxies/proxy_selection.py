"""Selection of proxies: the order in which the usable proxies of a pool serve requests.

Pure rules. The driver that stores proxies reads candidates and calls `choose_several`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.errors import BadInput
from longline.model.proxies.proxy import SKIP_AFTER_FAILURES, Pool, ProxyRequest

SLOT_MS = 300_000
"""Milliseconds of a slot in which requests are counted, five minutes: thirteen slots cover any hour that ends now."""


REST_MS = 60_000
"""Milliseconds after which a proxy of a pool that failed too often gets one request."""


class ProxyCandidate(msgspec.Struct, frozen=True):
    """A proxy of a pool; in the pool of a source, the counts are the source's own.

    `room` is the number of requests that the hour still allows; `turn` is 0 for a proxy that was never used. A
    `revivable` one gets a request after a rest, though it failed too often.
    """

    id: int
    active: bool
    failure_count: int
    turn: int
    priority: int
    room: int
    success_count: int = 0
    total_failures: int = 0
    avg_ms: int | None = None
    last_used_at: int | None = None
    country: str | None = None
    provider: str | None = None
    mapped: bool = False
    revivable: bool = False

    def is_usable(self, now: int) -> bool:
        """Return whether the proxy may get a request: it works, or it has rested from its failures."""
        works = self.active and self.failure_count < SKIP_AFTER_FAILURES
        has_rested = self.revivable and now - (self.last_used_at or 0) >= REST_MS
        return self.room > 0 and (works or has_rested)


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
        return max(line, key=lambda c: score(c, now))  # the first of equals, which is the least recently used
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


def score(candidate: ProxyCandidate, now: int) -> float:
    """Return the health out of a hundred: 50 for success, 30 for speed, 20 for the time since the last use."""
    tried = candidate.success_count + candidate.total_failures
    rate = 50 * candidate.success_count / tried if tried else 25
    return rate + _speed(candidate.avg_ms) + _rested(candidate.last_used_at, now)


def _speed(ms: int | None) -> int:
    if ms is None:
        return 15
    return next((points for bound, points in ((500, 30), (1000, 25), (2000, 20), (5000, 10)) if ms <= bound), 5)


def _rested(last_used_at: int | None, now: int) -> int:
    if last_used_at is None:
        return 20
    return next((points for hours, points in ((6, 20), (3, 15), (1, 10)) if now - last_used_at > hours * HOUR_MS), 5)


def first_slot(now: int) -> int:
    """Return the oldest slot of the hour that ends now; the slot counts whole, so no hour exceeds its limit."""
    return (now - HOUR_MS) // SLOT_MS


def tiers(name: str, pools: Iterable[Pool]) -> list[Pool]:
    """Return a pool and its fallbacks, depth first, each once; raise `BadInput` for an unknown name and for a cycle."""
    known = {pool.name: pool for pool in pools}
    found: dict[str, Pool] = {}
    _descend(name, known, found, ())
    return list(found.values())


def _descend(name: str, known: Mapping[str, Pool], found: dict[str, Pool], above: tuple[str, ...]) -> None:
    if name in above:
        ring = " → ".join((*above[above.index(name) :], name))
        raise BadInput(f"proxy pools fall back on each other in a ring: {ring}")
    if name not in known:
        by = f", which {above[-1]} falls back on" if above else ""
        raise BadInput(f"there is no proxy pool named {name!r}{by}")
    if name in found:
        return
    found[name] = known[name]
    for fallback in known[name].fallbacks:
        _descend(fallback, known, found, (*above, name))
