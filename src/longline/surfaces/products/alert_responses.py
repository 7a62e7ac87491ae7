"""Responses about alerts and about the health of proxies."""

from typing import Any, Literal

import msgspec

from longline.services.proxies.source_alerts import AlertView
from longline.surfaces.products.field_types import Timestamp, optional_time

ProxyAlertKind = Literal["low_pool", "failure_rate", "slow_proxy", "pool_exhausted", "queue_depth"]


class AlertBody(msgspec.Struct, frozen=True, kw_only=True):
    """An alert; `since` is the time of the look that noticed it first."""

    type: ProxyAlertKind
    message: str
    domain_id: int | None
    proxy_id: int | None
    value: float
    threshold: float
    since: Timestamp | None


class AlertList(msgspec.Struct, frozen=True):
    """The alerts that hold now."""

    total: int
    alerts: list[AlertBody]


class DomainHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the proxies of one domain."""

    domain_id: int
    domain_name: str
    total_proxies: int
    active_proxies: int
    failing_proxies: int
    avg_response_time: int | None
    total_success: int
    total_failures: int


class ProxyHealth(msgspec.Struct, frozen=True):
    """The pools of all domains, by name."""

    domains: list[DomainHealth]


def alert_body(view: AlertView) -> AlertBody:
    """Return an alert."""
    alert = view.alert
    kind: Any = alert.kind
    return AlertBody(
        type=kind,
        message=alert.text,
        domain_id=alert.source_id,
        proxy_id=alert.proxy_id,
        value=alert.value,
        threshold=alert.threshold,
        since=optional_time(view.since),
    )
