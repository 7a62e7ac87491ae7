"""The product-tasks API as one value: its operations by subject, its access checks and its metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from longline.model.callers import door
from longline.model.callers.rate_limit import RateLimit, RateLimitPolicy
from longline.model.callers.roles import NOT_BANNED, OPERATORS
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.products.alerts import ALERTS, AlertServices
from longline.surfaces.products.domains.domain_proxies import MAPPINGS, MappingServices
from longline.surfaces.products.domains.domains import DOMAINS, DomainServices
from longline.surfaces.products.error_format import ProductFormat
from longline.surfaces.products.metrics import ProductMetrics
from longline.surfaces.products.monitoring import MONITORING, MonitoringServices
from longline.surfaces.products.products import PRODUCTS, CatalogServices
from longline.surfaces.products.proxies import PROXIES, ProxyServices
from longline.surfaces.products.tasks.batches import BATCHES, BatchServices
from longline.surfaces.products.tasks.task_moves import TASK_MOVES
from longline.surfaces.products.tasks.tasks import TASKS, TaskServices
from longline.surfaces.products.tasks.webhooks import WEBHOOKS, WebhookServices

HOUR_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class ProductServices:
    """The services behind the product-tasks API, by subject.

    `per_hour` are the requests an hour of a caller, for administration and for products; 0 is no limit.
    """

    domains: DomainServices
    mappings: MappingServices
    proxies: ProxyServices
    products: CatalogServices
    alerts: AlertServices
    webhooks: WebhookServices
    monitoring: MonitoringServices
    tasks: TaskServices
    batches: BatchServices
    per_hour: tuple[int, int] = (0, 0)


def products_door(
    services: ProductServices, callers: Callers, registry: CollectorRegistry, *, is_open: bool = False
) -> Door:
    """Return the product-tasks API; its metrics are registered in `registry`.

    With `is_open` it needs no credentials, and has no limits without them.
    """
    metrics = ProductMetrics(registry)

    async def refresh_metrics() -> None:
        metrics.set_tasks(await services.tasks.recrawls.counts())

    access = DoorAccess(callers, door.PRODUCTS, is_open=is_open, reset_format="iso")
    admin, reader = (_hourly(requests, is_open=is_open) for requests in services.per_hour)
    return Door(
        name=door.PRODUCTS,
        title="Product tasks",
        prefixes=("/api/admin", "/api/products", "/api/health"),
        format=ProductFormat(),
        groups=tuple(_groups(services)),
        refresh_metrics=refresh_metrics,
        access={
            "public": PUBLIC,
            "admin": access.of(OPERATORS, limits=admin),
            "reader": access.of(NOT_BANNED, limits=reader),
        },
    )


def _hourly(requests: int, *, is_open: bool) -> RateLimitPolicy | None:
    """Return the policy of so many requests an hour for each caller; None for no limit."""
    if not requests:
        return None
    limits = (RateLimit(requests, HOUR_SECONDS, str(requests)),)
    return RateLimitPolicy(limits, None if is_open else limits)


def _groups(services: ProductServices) -> Iterator[OperationGroup]:
    yield OperationGroup("domains", "Sites with their settings.", DOMAINS, services.domains)
    yield OperationGroup("domain proxies", "The own pool of proxies of a domain.", MAPPINGS, services.mappings)
    yield OperationGroup("proxies", "Ways that requests go.", PROXIES, services.proxies)
    yield OperationGroup("products", "Products of all domains.", PRODUCTS, services.products)
    yield OperationGroup("alerts", "Alerts about proxies and the queue.", ALERTS, services.alerts)
    yield OperationGroup("webhooks", "Messages about tasks that have ended.", WEBHOOKS, services.webhooks)
    tasks = (*TASKS, *TASK_MOVES)
    yield OperationGroup("tasks", "URLs to crawl, each once or again and again.", tasks, services.tasks)
    yield OperationGroup("batches", "Tasks that are moved together.", BATCHES, services.batches)
    yield OperationGroup("monitoring", "The state of the platform.", MONITORING, services.monitoring)
