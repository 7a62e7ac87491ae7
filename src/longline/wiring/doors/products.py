"""Wiring of the product-tasks API."""

from functools import cache

from longline import __version__
from longline.engine.recrawls.webhook_sender import WebhookSender
from longline.model.proxies.source_alerts import AlertThresholds
from longline.model.sinks.webhook_signature import read_secret
from longline.services.health import Health
from longline.services.metrics.stored_totals import PlatformTotals
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.proxies.source_alerts import Alerts
from longline.services.recrawls.webhooks import Webhooks
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches
from longline.settings import webhook_secret
from longline.surfaces.products.alerts import AlertServices
from longline.surfaces.products.domains.domain_proxies import MappingServices
from longline.surfaces.products.domains.domains import DomainServices
from longline.surfaces.products.door import ProductServices
from longline.surfaces.products.monitoring import MonitoringServices
from longline.surfaces.products.products import KIND, CatalogServices
from longline.surfaces.products.proxies import ProxyServices
from longline.surfaces.products.tasks.batches import BatchServices
from longline.surfaces.products.tasks.tasks import TaskServices
from longline.surfaces.products.tasks.webhook_responses import webhook_body
from longline.surfaces.products.tasks.webhooks import WebhookServices
from longline.wiring.platform import Platform
from longline.wiring.subjects.metrics import worker_liveness
from longline.wiring.subjects.recrawls import recrawl_services, recrawled_sources
from longline.wiring.subjects.sources import source_robots, source_service


def product_services(platform: Platform, health: Health) -> ProductServices:
    """Return the services behind the product-tasks API."""
    records, settings, tasks = platform.records, platform.settings, recrawl_services(platform)
    proxies, figures = platform.proxies, ProxyFigures(records.proxy_figures)
    sources = source_service(platform)
    recrawled = recrawled_sources(platform, tasks.holds)
    return ProductServices(
        domains=DomainServices(recrawled, source_robots(platform), settings.politeness, settings.user_agent),
        mappings=MappingServices(sources, proxies, figures),
        proxies=ProxyServices(proxies, figures),
        products=CatalogServices(
            Searches(platform.search, records.items),
            ItemHistories(records.items, records.item_changes, KIND),
            tasks.images,
        ),
        alerts=AlertServices(alerts(platform)),
        webhooks=WebhookServices(Webhooks(records.webhooks)),
        monitoring=MonitoringServices(
            health, tasks.recrawls, PlatformTotals(records), worker_liveness(platform), __version__, platform.clock.now
        ),
        tasks=TaskServices(tasks.recrawls, tasks.orders, platform.clock.now),
        batches=BatchServices(tasks.batches),
        per_hour=(settings.products_admin_per_hour, settings.products_read_per_hour),
    )


def alerts(platform: Platform) -> Alerts:
    """Return the alerts about proxies, the queue and catalogues."""
    s = platform.settings

    async def depth() -> int:
        depths = await recrawl_services(platform).recrawls.depths()
        return depths.urgent_ready + depths.ready

    limits = AlertThresholds(s.alert_min_proxies, s.alert_failure_percent, s.alert_average_ms, s.alert_queue_depth)
    return Alerts(platform.records.alerts, depth, limits, platform.clock)


def webhook_sender(platform: Platform) -> WebhookSender:
    """Return the sender of webhooks."""
    s = platform.settings
    retry_ms = round(s.webhook_retry * 1000)

    @cache
    def key() -> bytes:
        # Read with the first webhook: most installations never send one, and need no secret.
        return read_secret(webhook_secret(s))

    stores = (platform.records.webhooks, platform.http, platform.clock)
    return WebhookSender(*stores, webhook_body, key=key, retry_ms=retry_ms, metrics=platform.metrics)
