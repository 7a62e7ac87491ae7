"""The Litestar application that serves all HTTP APIs."""

from dataclasses import dataclass

from litestar import Litestar

from longline.model.callers.door import INTERVALS, MANIFESTS, PRODUCTS
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.callers import Callers
from longline.services.callers.rate_limits import RateLimits
from longline.services.callers.tokens import Tokens
from longline.services.health import Health
from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.services.metrics.platform_figures import PlatformFigureReader
from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.bots.door import bots_door
from longline.surfaces.bots.services import BotServices
from longline.surfaces.catalogue.door import CatalogueServices, catalogue_door
from longline.surfaces.cors import cors_config
from longline.surfaces.door import Door
from longline.surfaces.fast_path import FastPath
from longline.surfaces.intervals.door import IntervalServices, intervals_door
from longline.surfaces.manifests.door import manifests_door
from longline.surfaces.manifests.services import ManifestServices
from longline.surfaces.middleware import RequestMiddleware, WholeBodies, error_handlers
from longline.surfaces.openapi import openapi_document
from longline.surfaces.platform.documentation.pages import Documentation
from longline.surfaces.platform.door import PlatformServices, platform_door
from longline.surfaces.platform.health import HealthServices
from longline.surfaces.platform.metrics_endpoint import Metrics, MetricsServices
from longline.surfaces.products.door import ProductServices, products_door
from longline.surfaces.routing import route_of
from longline.surfaces.server.request_limits import MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class AppParts:
    """The services behind the HTTP APIs. `metrics_open` serves `/metrics` without a token.

    `open_doors` names the APIs that need no credentials, `local_doors` those that need none because the server listens
    on loopback. `per_minute` limits the requests of each caller at each API.
    `console` is the web console, to which browsers are led.
    """

    version: str
    health: Health
    tokens: Tokens
    counts: Counts
    metrics_open: bool = False
    bots: BotServices | None = None
    intervals: IntervalServices | None = None
    products: ProductServices | None = None
    catalogue: CatalogueServices | None = None
    manifests: ManifestServices | None = None
    loop: LoopMonitor | None = None
    operation: PlatformFigureReader | None = None
    open_doors: frozenset[str] = frozenset()
    local_doors: frozenset[str] = frozenset()
    api_keys: ApiKeys | None = None
    rate_limits: RateLimits | None = None
    per_minute: int | None = None
    console: Door | None = None


def build_app(parts: AppParts, metrics: Metrics | None = None) -> Litestar:
    """Return the application with the APIs of all given services; their metrics are registered in `metrics`."""
    metrics = metrics or Metrics(parts.version)
    doors = _table(parts, metrics)
    endpoints = [endpoint for door in doors for endpoint in door.endpoints()]
    app = Litestar(
        route_handlers=[route_of(endpoint) for endpoint in endpoints],
        exception_handlers=error_handlers(doors),
        cors_config=cors_config(),
        openapi_config=None,
        logging_config=None,
        request_max_body_size=MAX_BODY_BYTES,
    )
    if parts.loop is not None:
        metrics.watch_loop(parts.loop)
    if parts.operation is not None:
        metrics.watch_operation(parts.operation)
    metrics.watched += [door.refresh_metrics for door in doors if door.refresh_metrics is not None]
    metrics.probes += [door.probe for door in doors if door.probe is not None]
    for door in doors:
        if door.observe_request is not None:
            metrics.observers |= {each.operation.path: door.observe_request for each in door.endpoints()}
    app.asgi_handler = WholeBodies(app.asgi_handler)
    for door in doors:
        app.asgi_handler = door.wrap(app.asgi_handler) if door.wrap is not None else app.asgi_handler
    app.asgi_handler = FastPath(app.asgi_handler, endpoints)
    app.asgi_handler = RequestMiddleware(app.asgi_handler, metrics.observe, doors, parts.local_doors)
    return app


def _table(parts: AppParts, metrics: Metrics) -> list[Door]:
    """Return all APIs."""
    doors: list[Door] = []
    callers = Callers(parts.tokens, parts.api_keys, parts.rate_limits, parts.per_minute)
    documentation = Documentation(
        lambda: openapi_document(parts.version, [door for door in doors if door.is_described]),
        has_console=parts.console is not None,
    )
    platform = PlatformServices(
        HealthServices(parts.health, parts.version), MetricsServices(metrics, parts.counts), documentation
    )
    if parts.intervals is not None:
        doors.append(intervals_door(parts.intervals, callers, metrics.registry, is_open=INTERVALS in parts.open_doors))
    if parts.bots is not None:
        doors.append(bots_door(parts.bots, callers, metrics.registry))
    if parts.products is not None:
        doors.append(products_door(parts.products, callers, metrics.registry, is_open=PRODUCTS in parts.open_doors))
    if parts.catalogue is not None:
        doors.append(catalogue_door(parts.catalogue, callers, metrics.registry))
    if parts.manifests is not None:
        is_open = MANIFESTS in parts.open_doors
        doors.append(manifests_door(parts.manifests, callers, metrics.registry, is_open=is_open))
    doors.append(platform_door(platform, callers, metrics_open=parts.metrics_open))
    if parts.console is not None:
        doors.append(parts.console)
    return doors
