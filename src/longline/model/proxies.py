"""Proxies: the choice of a proxy for a request, and the effect of the outcome on the proxy.

Pure rules. The driver that stores proxies reads candidates, calls `choose`, and writes the rows that `after` and
`mapping_after` return.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from longline.model.errors import BadInput, LonglineError

Scheme = Literal["http", "https", "socks5"]
Strategy = Literal["lru", "health", "random3", "geo"]
Off = Literal["auto", "manual"]

SKIP_AFTER_FAILURES = 5
"""Failures in a row at which a source, the global pool and named pools skip a proxy."""

DISABLE_AFTER_FAILURES = 10
"""Failures in a row at which a proxy is switched off everywhere."""

HOUR_MS = 3_600_000
SLOT_MS = 300_000
"""Milliseconds of a slot in which requests are counted, five minutes: thirteen slots cover any hour that ends now."""

PROBE_INTERVAL_MS = 900_000
BLOCKED = frozenset({403, 407, 429})
"""Statuses by which a site refuses the proxy."""


BEFORE_PROXY = frozenset({"dns", "egress", "bad_url"})
"""Failures of a request that never left: the target's name was not resolved, or may not be reached."""

THROUGH_PROXY = frozenset({"refused", "connect_timeout", "tls", "too_large", "protocol", "reset", "truncated"})
"""Failures of the target that only a working proxy can report, where the proxy itself is not at fault."""


class NoProxies(LonglineError):
    """A pool without a usable proxy: all failed, are off, or used up their hour."""


class NewProxy(msgspec.Struct, frozen=True):
    """A proxy to be registered. `secret` is the encrypted password, `monthly_cost` is in hundredths."""

    host: str
    port: int
    scheme: Scheme = "http"
    username: str = ""
    secret: str = ""
    country: str | None = None
    city: str | None = None
    provider: str | None = None
    monthly_cost: int | None = None
    max_per_hour: int = 1000
    priority: int = 5

    def __repr__(self) -> str:
        return f"NewProxy({self.scheme}://{self.host}:{self.port})"


class ProxyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A stored proxy without its secret. `failure_count` is of failures in a row, `total_failures` of all."""

    id: int
    scheme: Scheme
    host: str
    port: int
    username: str
    active: bool
    disabled_reason: Off | None
    failure_count: int
    success_count: int
    total_failures: int
    last_used_at: int | None
    last_success_at: int | None
    last_failure_at: int | None
    avg_ms: int | None
    country: str | None
    city: str | None
    provider: str | None
    monthly_cost: int | None
    max_per_hour: int
    priority: int
    created_at: int
    updated_at: int


class ProxyRow(ProxyFacts, frozen=True, kw_only=True):
    """A proxy as stored, with its encrypted password; `turn` is its place in the rotation."""

    secret: str
    probe_at: int | None
    turn: int

    def __repr__(self) -> str:
        return f"ProxyRow({self.id}, {self.scheme}://{self.host}:{self.port})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("id", self.id), ("host", self.host), ("port", self.port)]


class ProxyFilter(msgspec.Struct, frozen=True):
    """The filter of a list of proxies; None means any."""

    active: bool | None = None
    country: str | None = None
    provider: str | None = None


class MappingRow(msgspec.Struct, frozen=True):
    """A proxy as one source knows it: sites treat the same proxy differently."""

    id: int
    source_id: int
    proxy_id: int
    active: bool
    priority: int
    last_used_at: int | None
    success_count: int
    failure_count: int
    total_failures: int
    avg_ms: int | None
    turn: int
    created_at: int
    updated_at: int


class ProxyChange(msgspec.Struct, frozen=True):
    """A person's change of a proxy; fields that are not set stay."""

    active: bool | UnsetType = UNSET
    scheme: Scheme | UnsetType = UNSET
    username: str | UnsetType = UNSET
    secret: str | UnsetType = UNSET
    country: str | UnsetType | None = UNSET
    city: str | UnsetType | None = UNSET
    provider: str | UnsetType | None = UNSET
    monthly_cost: int | UnsetType | None = UNSET
    max_per_hour: int | UnsetType = UNSET
    priority: int | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"ProxyChange({', '.join(_set_fields(self))})"


class Pool(msgspec.Struct, frozen=True):
    """Proxies under a name, and the pools to turn to when all of them fail."""

    name: str
    proxies: tuple[int, ...] = ()
    fallbacks: tuple[str, ...] = ()


class ProxyRequest(msgspec.Struct, frozen=True):
    """A request for `wanted` turns from a source's own pool, or a named pool, or else from all proxies.

    `exclude` names proxies that failed this page already.
    """

    source_id: int | None = None
    pool: str | None = None
    country: str | None = None
    exclude: frozenset[int] = frozenset()
    strategy: Strategy = "lru"
    wanted: int = 1

    def __post_init__(self) -> None:
        if self.wanted < 1:
            raise BadInput("at least one proxy must be wanted")


class Picked(msgspec.Struct, frozen=True):
    """The proxies that are next, in order; fewer than wanted when limits or failures leave no more.

    `size` counts the pool's proxies, usable or not: 0 means that there is no pool, not that the pool is exhausted.
    """

    proxies: tuple[ProxyRow, ...] = ()
    size: int = 0
    mapped: bool = False

    @property
    def exhausted(self) -> bool:
        return self.size > 0 and not self.proxies


class ProxyUse(msgspec.Struct, frozen=True):
    """The result of one request through a proxy; `ok` is whether the request showed that the proxy works.

    A request that shows neither that the proxy works nor that it does not is not recorded.
    """

    proxy_id: int
    source_id: int | None
    ok: bool
    ms: int
    at: int


class ProxyCandidate(msgspec.Struct, frozen=True):
    """A proxy of a pool; in the pool of a source, the counts are the source's own.

    `room` is the number of requests that the hour still allows; `turn` is 0 for a proxy that was never used.
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

    @property
    def usable(self) -> bool:
        return self.active and self.failure_count < SKIP_AFTER_FAILURES and self.room > 0


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
    line = sorted((c for c in pool if c.usable and _fits(c, ask)), key=_place)
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


# Accounting


def blames_proxy(reason: str | None, status: int | None) -> bool:
    """Return whether a request failed because of its proxy: the proxy failed, or the site refuses the proxy."""
    if status is not None:
        return status in BLOCKED
    return reason is not None and reason.startswith("proxy_") and reason != "proxy_exhausted"


def proxy_works(reason: str, *, proxy_fault: bool) -> bool | None:
    """Return whether a failed request shows that its proxy works, or that it does not; None when it shows neither.

    A failure before the proxy was contacted shows nothing. A timeout may be the target's or the proxy's.
    """
    if proxy_fault:
        return False
    return True if reason in THROUGH_PROXY else None


def average(old: int | None, sample: int) -> int:
    """Return the first sample as it is, then the mean of the old average and the new sample."""
    return sample if old is None else (old + sample) // 2


def after(row: ProxyRow, used: ProxyUse) -> ProxyRow:
    """Return the proxy after a request. Success re-enables a proxy after failures, never after a person disabled it."""
    if used.ok:
        by_hand = row.disabled_reason == "manual"
        return msgspec.structs.replace(
            row,
            failure_count=0,
            success_count=row.success_count + 1,
            last_success_at=max(row.last_success_at or 0, used.at),
            avg_ms=average(row.avg_ms, used.ms),
            active=row.active or not by_hand,
            disabled_reason=row.disabled_reason if by_hand else None,
            probe_at=None,
        )
    failures = row.failure_count + 1
    off = row.active and failures >= DISABLE_AFTER_FAILURES
    return msgspec.structs.replace(
        row,
        failure_count=failures,
        total_failures=row.total_failures + 1,
        last_failure_at=max(row.last_failure_at or 0, used.at),
        active=row.active and not off,
        disabled_reason="auto" if off else row.disabled_reason,
        # A skipped proxy gets no requests either: it is probed like a proxy that is off.
        probe_at=(row.probe_at or used.at + PROBE_INTERVAL_MS) if failures >= SKIP_AFTER_FAILURES else None,
    )


def mapping_after(row: MappingRow, used: ProxyUse) -> MappingRow:
    """Return the mapping after a request; only a person re-enables a mapping that failures disabled."""
    if used.ok:
        return msgspec.structs.replace(
            row, success_count=row.success_count + 1, failure_count=0, avg_ms=average(row.avg_ms, used.ms)
        )
    failures = row.failure_count + 1
    return msgspec.structs.replace(
        row,
        failure_count=failures,
        total_failures=row.total_failures + 1,
        active=row.active and failures < SKIP_AFTER_FAILURES,
    )


def changed(row: ProxyRow, change: ProxyChange) -> ProxyRow:
    """Return the proxy after a person's change. Enabling resets its failures; a disabled proxy stays off."""
    fields = _set_fields(change)
    active = fields.pop("active", None)
    if active is not None:
        fields |= {"active": active, "disabled_reason": None if active else "manual"}
    if active:
        fields |= {"failure_count": 0, "probe_at": None}
    return msgspec.structs.replace(row, **fields)


def _set_fields(change: ProxyChange) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}


def success_rate(successes: int, failures: int) -> float:
    """Return the percentage of successful requests, to two places; 0 without requests."""
    tried = successes + failures
    return round(100 * successes / tried, 2) if tried else 0.0
