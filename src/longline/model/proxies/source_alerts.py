"""Alerts: conditions that a person should know of, from the moment they begin until they end."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from longline.model.duration import DAY_MS, MINUTE_MS
from longline.model.proxies.proxy_health import success_rate

SourceAlertKind = Literal[
    "low_pool", "failure_rate", "slow_proxy", "pool_exhausted", "queue_depth", "source_disabled", "stuck_run"
]
PlatformAlertKind = Literal["engine_down", "stalled_run", "failed_requests", "late_queue"]
AlertKind = SourceAlertKind | PlatformAlertKind
CATALOGUE_ALERTS: frozenset[AlertKind] = frozenset({"source_disabled", "stuck_run"})
"""Alerts about catalogues; the other ones about sources are about proxies and the queue."""

MAX_UNSEEN_MS = 10 * MINUTE_MS
"""Time after which an alert ends that no look has found again: its process is gone."""

CLEARED_KEPT_MS = 30 * DAY_MS


class AlertThresholds(msgspec.Struct, frozen=True):
    """The thresholds of alerts: fewer proxies, and more of everything else, raise an alert."""

    min_proxies: int = 3
    max_failure_percent: float = 10.0
    max_average_ms: int = 5000
    max_queue_depth: int = 100_000


class SourcePool(msgspec.Struct, frozen=True, kw_only=True):
    """The own pool of a source in sums, also of a source without proxies.

    `active` mappings are switched on, `usable` ones have a proxy that is switched on and not skipped, `failing` ones
    are skipped; `avg_ms` is the mean of their means.
    """

    source_id: int
    name: str
    enabled: bool
    proxies: int
    active: int
    usable: int
    failing: int
    successes: int
    failures: int
    avg_ms: int | None


class SlowProxy(msgspec.Struct, frozen=True):
    """An active mapping with a long mean response time."""

    source_id: int
    name: str
    proxy_id: int
    avg_ms: int


class DisabledSource(msgspec.Struct, frozen=True):
    """A source that the platform has disabled after failures in a row."""

    source_id: int
    name: str
    failures: int
    since: int


class StuckRun(msgspec.Struct, frozen=True):
    """A run of a catalogue that runs for too long."""

    source_id: int
    name: str
    run_uid: str
    started_at: int


class Alert(msgspec.Struct, frozen=True):
    """A condition that holds; kind and subject identify it over time."""

    kind: AlertKind
    subject: str
    text: str
    value: float
    threshold: float
    source_id: int | None = None
    proxy_id: int | None = None
    run_id: int | None = None


class AlertRow(msgspec.Struct, frozen=True):
    """An alert that was noticed: raised, or cleared. Looks of the same `scope` raise and clear it."""

    id: int
    scope: str
    kind: AlertKind
    subject: str
    state: Literal["raised", "cleared"]
    text: str
    source_id: int | None
    proxy_id: int | None
    run_id: int | None
    since: int
    seen_at: int
    cleared_at: int | None

    @property
    def key(self) -> tuple[str, str]:
        """The kind and the subject, which identify the condition."""
        return self.kind, self.subject


class StalledRun(msgspec.Struct, frozen=True):
    """A run under way of which no task has moved for a while."""

    id: int
    title: str
    source_id: int | None
    open: int
    moved_at: int


class AlertChange(msgspec.Struct, frozen=True):
    """Alerts that began and alerts that ended."""

    raised: tuple[Alert, ...] = ()
    cleared: tuple[AlertRow, ...] = ()


def alerts_of(
    pools: Iterable[SourcePool], slow: Iterable[SlowProxy], depth: int, limits: AlertThresholds
) -> list[Alert]:
    """Return the alerts that hold, those of the pools in their order first."""
    found = [alert for pool in pools for alert in _of_pool(pool, limits)]
    found += [_of_slow(proxy, limits) for proxy in slow if proxy.avg_ms > limits.max_average_ms]
    if depth > limits.max_queue_depth:
        text = f"{depth} tasks are due, more than {limits.max_queue_depth}"
        found.append(Alert("queue_depth", "queue", text, depth, limits.max_queue_depth))
    return found


def catalogue_alerts(disabled: Iterable[DisabledSource], stuck: Iterable[StuckRun], stuck_minutes: int) -> list[Alert]:
    """Return the alerts about sources that were disabled, and about runs that are stuck."""
    found = []
    for source in disabled:
        text = f"{source.name} was disabled after {source.failures} failed runs in a row"
        found.append(Alert("source_disabled", str(source.source_id), text, source.failures, 0, source.source_id))
    for run in stuck:
        text = f"a run of {run.name} takes more than {stuck_minutes} minutes"
        found.append(Alert("stuck_run", run.run_uid, text, 0, stuck_minutes, run.source_id))
    return found


def _of_pool(pool: SourcePool, limits: AlertThresholds) -> Iterator[Alert]:
    subject = str(pool.source_id)
    if pool.enabled and pool.active < limits.min_proxies:
        proxies = "proxy" if pool.active == 1 else "proxies"
        text = f"{pool.name} has {pool.active} active {proxies}, fewer than {limits.min_proxies}"
        yield Alert("low_pool", subject, text, pool.active, limits.min_proxies, pool.source_id)
    tried = pool.successes + pool.failures
    rate = round(100 - success_rate(pool.successes, pool.failures), 2) if tried else 0.0
    # Compared in whole numbers: ten of a hundred are no more than ten percent.
    if tried and pool.failures * 100 > limits.max_failure_percent * tried:
        text = f"{rate} % of the requests to {pool.name} failed, more than {limits.max_failure_percent} %"
        yield Alert("failure_rate", subject, text, rate, limits.max_failure_percent, pool.source_id)
    if pool.enabled and pool.proxies and not pool.usable:
        text = f"none of the {pool.proxies} proxies of {pool.name} is usable"
        yield Alert("pool_exhausted", subject, text, 0, 1, pool.source_id)


def _of_slow(proxy: SlowProxy, limits: AlertThresholds) -> Alert:
    text = f"proxy {proxy.proxy_id} takes {proxy.avg_ms} ms for {proxy.name}, more than {limits.max_average_ms}"
    subject = f"{proxy.source_id}/{proxy.proxy_id}"
    return Alert("slow_proxy", subject, text, proxy.avg_ms, limits.max_average_ms, proxy.source_id, proxy.proxy_id)


def settled(found: Sequence[Alert], known: Sequence[AlertRow], scope: str, now: int) -> AlertChange:
    """Return the difference between the alerts of a scope that hold and those that held.

    Alerts of other scopes end when no look has found them for a while.
    """
    held = {one.key for one in known if one.scope == scope}
    holding = {(one.kind, one.subject) for one in found}
    ended = [one for one in known if one.scope == scope and one.key not in holding]
    ended += [one for one in known if one.scope != scope and one.seen_at < now - MAX_UNSEEN_MS]
    return AlertChange(tuple(one for one in found if (one.kind, one.subject) not in held), tuple(ended))
