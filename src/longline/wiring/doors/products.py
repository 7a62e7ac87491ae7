"""Wiring of the product-tasks API."""

from functools import cache

from longline import __version__
from longline.engine.recrawls.webhook_sender import WebhookSender
from longline.model.proxies.alert import AlertThresholds
from longline.model.sinks.webhook_signature import read_secret
from longline.services.archive.item_history import ItemHistories
from longline.services.health import Health
from longline.services.metrics.platform_totals import PlatformTotals
from longline.services.proxies.alerts import Alerts
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.recrawls.webhooks import Webhooks
from longline.services.search import Searches
from longline.services.sources.recrawled_sources import RecrawledSources
from longline.settings import webhook_secret
from longline.surfaces.products.alerts import AlertServices
from longline.surfaces.products.domains import DomainServices
from longline.surfaces.products.door import ProductServices
from longline.surfaces.products.mappings import MappingServices
from longline.surfaces.products.monitoring import MonitoringServices
from longline.surfaces.products.products import KIND, CatalogServices
from longline.surfaces.products.proxies import ProxyServices
from longline.surfaces.products.tasks.batches import BatchServices
from longline.surfaces.products.tasks.tasks import TaskServices
from longline.surfaces.products.webhooks import WebhookServices, webhook_body
from longline.wiring.house import House
from longline.wiring.parts.metrics import worker_liveness
from longline.wiring.parts.recrawls import recrawl_services
from longline.wiring.parts.sources import source_robots, source_service


def product_services(house: House, health: Health) -> ProductServices:
    """Return the services behind the product-tasks API."""
    records, settings, tasks = house.records, house.settings, recrawl_services(house)
    proxies, figures = Proxies(records.proxies, house.vault), ProxyFigures(records.proxy_figures)
    sources = source_service(house)
    recrawled = RecrawledSources(sources, records, figures, tasks.holds)
    return ProductServices(
        domains=DomainServices(recrawled, source_robots(house), settings.politeness, settings.user_agent),
        mappings=MappingServices(sources, proxies, figures),
        proxies=ProxyServices(proxies, figures),
        products=CatalogServices(
            Searches(house.search, records.items), ItemHistories(records.items, records.item_changes, KIND)
        ),
        alerts=AlertServices(alerts(house)),
        webhooks=WebhookServices(Webhooks(records.webhooks)),
        monitoring=MonitoringServices(
            health, tasks.recrawls, PlatformTotals(records), worker_liveness(house), __version__, house.clock.now
        ),
        tasks=TaskServices(tasks.recrawls, tasks.orders, house.clock.now),
        batches=BatchServices(tasks.batches),
        per_hour=(settings.products_admin_per_hour, settings.products_read_per_hour),
    )


def alerts(house: House) -> Alerts:
    """Return the alerts about proxies and the queue."""
    s = house.settings

    async def depth() -> int:
        depths = await recrawl_services(house).recrawls.depths()
        return depths.urgent_ready + depths.ready

    limits = AlertThresholds(s.alert_min_proxies, s.alert_failure_percent, s.alert_average_ms, s.alert_queue_depth)
    return Alerts(house.records.alerts, depth, limits)


def webhook_sender(house: House) -> WebhookSender:
    """Return the sender of webhooks."""
    s = house.settings
    retry_ms = round(s.webhook_retry * 1000)

    @cache
    def key() -> bytes:
        # Read with the first webhook: most installations never send one, and need no secret.
        return read_secret(webhook_secret(s))

    return WebhookSender(house.records.webhooks, house.http, house.clock, webhook_body, key=key, retry_ms=retry_ms)
