"""`/api/admin/alerts` and `/api/admin/proxies/health`: alerts that hold, and the pools of all domains."""

from dataclasses import dataclass

from longline.model.proxies.source_alerts import CATALOGUE_ALERTS
from longline.services.proxies.source_alerts import Alerts
from longline.surfaces.operation import operation
from longline.surfaces.products import examples
from longline.surfaces.products.alert_responses import AlertList, DomainHealth, ProxyHealth, alert_body


@dataclass(frozen=True, slots=True)
class AlertServices:
    """Alerts."""

    alerts: Alerts


@operation(
    "GET", "/api/admin/alerts", "List the alerts that hold now", access="admin", response_example=examples.ALERTS
)
async def list_alerts(services: AlertServices) -> AlertList:
    """List domains with few or failing proxies, slow proxies, and a long queue."""
    found = [alert_body(view) for view in await services.alerts.find() if view.alert.kind not in CATALOGUE_ALERTS]
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
