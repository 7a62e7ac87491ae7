"""Health of a proxy: the effect of the outcome of a request, or of a person's change, on its counts and its state.

Pure rules. The driver that stores proxies writes the rows that `after` and `mapping_after` return.
"""

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.proxies.proxy import SKIP_AFTER_FAILURES, MappingRow, ProxyChange, ProxyRow, ProxyUse, _set_fields

DISABLE_AFTER_FAILURES = 10
"""Failures in a row at which a proxy is switched off everywhere."""

FAILED_PROXY_REST_MS = 60_000
"""Milliseconds after which a proxy of a pool that failed too often gets one request."""

PROBE_INTERVAL_MS = 900_000
"""Time between two probes of one proxy that is switched off."""

BLOCKED = frozenset({403, 407, 429})
"""Statuses by which a site refuses the proxy."""


BEFORE_PROXY = frozenset({"dns", "egress", "bad_url"})
"""Failures of a request that never left: the target's name was not resolved, or may not be reached."""

THROUGH_PROXY = frozenset({"refused", "connect_timeout", "tls", "too_large", "protocol", "reset", "truncated"})
"""Failures of the target that only a working proxy can report, where the proxy itself is not at fault."""

PROBE_TIMEOUT_SECONDS = 15.0
"""Longest time of one probe."""


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


def success_rate(successes: int, failures: int) -> float:
    """Return the percentage of successful requests, to two places; 0 without requests."""
    tried = successes + failures
    return round(100 * successes / tried, 2) if tried else 0.0


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
        has_rested = self.revivable and now - (self.last_used_at or 0) >= FAILED_PROXY_REST_MS
        return self.room > 0 and (works or has_rested)


def health_score(candidate: ProxyCandidate, now: int) -> float:
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
