"""Alerts about the proxies of sources and the queue: conditions that a person should know of."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from longline.model.proxies.proxy_health import success_rate

AlertKind = Literal["low_pool", "failure_rate", "slow_proxy", "pool_exhausted", "queue_depth"]
ALERT_KINDS: tuple[AlertKind, ...] = ("low_pool", "failure_rate", "slow_proxy", "pool_exhausted", "queue_depth")


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


class Alert(msgspec.Struct, frozen=True):
    """A condition that holds; kind and subject identify it over time."""

    kind: AlertKind
    subject: str
    text: str
    value: float
    threshold: float
    source_id: int | None = None
    proxy_id: int | None = None


class RaisedAlert(msgspec.Struct, frozen=True):
    """An alert that was noticed, and the time since which it holds."""

    kind: AlertKind
    subject: str
    since: int


class AlertChange(msgspec.Struct, frozen=True):
    """Alerts that began and alerts that ended."""

    raised: tuple[Alert, ...] = ()
    cleared: tuple[RaisedAlert, ...] = ()


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


def _of_pool(pool: SourcePool, limits: AlertThresholds) -> Iterator[Alert]:
    subject = str(pool.source_id)
    if pool.enabled and pool.active < limits.min_proxies:
        text = f"{pool.name} has {pool.active} active proxies, fewer than {limits.min_proxies}"
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


def settled(found: Sequence[Alert], known: Sequence[RaisedAlert]) -> AlertChange:
    """Return the difference between the alerts that hold and those that held."""
    before = {(one.kind, one.subject) for one in known}
    now = {(one.kind, one.subject) for one in found}
    return AlertChange(
        tuple(one for one in found if (one.kind, one.subject) not in before),
        tuple(one for one in known if (one.kind, one.subject) not in now),
    )
