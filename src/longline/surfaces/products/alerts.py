"""`/api/admin/alerts` and `/api/admin/proxies/health`: alerts that hold, and the pools of all domains."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from longline.model.proxies.source_alerts import CATALOGUE_ALERTS
from longline.services.proxies.source_alerts import Alerts, AlertView
from longline.surfaces.operation import operation
from longline.surfaces.products import examples
from longline.surfaces.products.field_types import Timestamp, optional_time

ProxyAlertKind = Literal["low_pool", "failure_rate", "slow_proxy", "pool_exhausted", "queue_depth"]


@dataclass(frozen=True, slots=True)
class AlertServices:
    """Alerts."""

    alerts: Alerts


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


@operation(
    "GET", "/api/admin/alerts", "List the alerts that hold now", access="admin", response_example=examples.ALERTS
)
async def list_alerts(services: AlertServices) -> AlertList:
    """List domains with few or failing proxies, slow proxies, and a long queue."""
    found = [_body(view) for view in await services.alerts.find() if view.alert.kind not in CATALOGUE_ALERTS]
    return AlertList(len(found), found)


@operation(
    "GET",
    "/api/admin/proxies/health",
    "Show the health of the proxies of each domain",
    access="admin",
    response_example=examples.PROXY_HEALTH,
)
async def show_proxy_health(services: AlertServices) -> ProxyHealth:
    return ProxyHealth(
        [
            DomainHealth(
                domain_id=pool.source_id,
                domain_name=pool.name,
                total_proxies=pool.proxies,
                active_proxies=pool.active,
                failing_proxies=pool.failing,
                avg_response_time=pool.avg_ms,
                total_success=pool.successes,
                total_failures=pool.failures,
            )
            for pool in await services.alerts.pools()
        ]
    )


ALERTS = (list_alerts, show_proxy_health)


def _body(view: AlertView) -> AlertBody:
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
