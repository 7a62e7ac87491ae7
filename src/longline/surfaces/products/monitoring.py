"""`/api/health`, `/api/admin/stats` and `/api/admin/queues`: engines, figures and queues under the contract's names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from longline.model.duration import DAY_MS
from longline.model.errors import Unavailable
from longline.model.proxies.proxy_health import success_rate
from longline.model.recrawls.recrawl_lists import QueueDepths
from longline.services.health import Health, Report, Status
from longline.services.metrics.stored_totals import PlatformTotals
from longline.services.metrics.worker_liveness import WorkerLiveness
from longline.services.recrawls.recrawls import Recrawls
from longline.surfaces.operation import ApiFailure, ApiResponse, operation
from longline.surfaces.products import errors, examples
from longline.surfaces.products.field_types import TaskStatus, Timestamp, rounded, time_text
from longline.surfaces.products.products import KIND

SERVICES = {"database": "database", "rabbitmq": "database", "elasticsearch": "search"}
"""The contract's services, and the check of the engine that does their work; the queue is in the database."""


@dataclass(frozen=True, slots=True)
class MonitoringServices:
    """The health checks, the figures of tasks and workers, and the version; `now` returns UTC milliseconds."""

    health: Health
    recrawls: Recrawls
    totals: PlatformTotals
    workers: WorkerLiveness
    version: str
    now: Callable[[], int]


class ServiceHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one engine; `engine` is the engine that is really in use."""

    status: Literal["healthy", "unhealthy"]
    response_time_ms: float
    engine: str | None


class PlatformHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the platform."""

    status: Status
    timestamp: Timestamp
    version: str
    services: dict[str, ServiceHealth]


@operation(
    "GET",
    "/api/health",
    "Report the state of the engines",
    access="public",
    answers={200: PlatformHealth, 503: PlatformHealth},
    response_example={200: examples.HEALTH, 503: examples.NO_HEALTH},
)
async def show_services(services: MonitoringServices) -> ApiResponse[PlatformHealth]:
    """Answer 503 if the database does not work."""
    report = await services.health.report()
    body = PlatformHealth(
        status=report.status,
        timestamp=time_text(services.now()),
        version=services.version,
        services=_services(report),
    )
    return ApiResponse(body, 503 if report.status == "unhealthy" else 200)


def _services(report: Report) -> dict[str, ServiceHealth]:
    found = {}
    for name, check in SERVICES.items():
        # Without a search cluster the database is searched.
        result = report.checks.get(check) or report.checks.get("database")
        if result is not None:
            status: Literal["healthy", "unhealthy"] = "healthy" if result.status == "healthy" else "unhealthy"
            found[name] = ServiceHealth(status=status, response_time_ms=result.response_time_ms, engine=result.detail)
    return found


class TaskTotals(msgspec.Struct, frozen=True):
    """Numbers of tasks by status."""

    total: int
    by_status: dict[str, int]


class ActiveTotals(msgspec.Struct, frozen=True):
    """A number of objects, and how many of them are active."""

    total: int
    active: int


class ProductTotals(msgspec.Struct, frozen=True):
    """The number of products."""

    total: int


class Performance(msgspec.Struct, frozen=True):
    """Figures of the last 24 hours; `running` tasks are crawled or parsed now."""

    running: int
    success_rate: float
    avg_response_time_ms: float | None
    tasks_last_24_hours: int


class SystemStats(msgspec.Struct, frozen=True):
    """Figures of the whole platform."""

    tasks: TaskTotals
    domains: ActiveTotals
    proxies: ActiveTotals
    products: ProductTotals
    performance: Performance


class QueueBody(msgspec.Struct, frozen=True):
    """One queue: messages that wait, messages in a worker's hand, and workers that take from it."""

    name: str
    messages_ready: int
    messages_unacked: int
    consumers: int


class QueueList(msgspec.Struct, frozen=True):
    """The three queues."""

    queues: list[QueueBody]


@operation(
    "GET", "/api/admin/stats", "Show figures of the platform", access="admin", response_example=examples.SYSTEM_STATS
)
async def show_stats(services: MonitoringServices) -> SystemStats:
    counts, depths = await services.recrawls.counts(), await services.recrawls.depths()
    day = await services.recrawls.stats(services.now() - DAY_MS)
    figures = await services.totals.find(KIND)
    running = depths.urgent_in_hand + depths.in_hand + depths.parsing
    rate = success_rate(day.by_phase.get("completed", 0), day.by_phase.get("failed", 0))
    return SystemStats(
        TaskTotals(sum(counts.values()), _by_status(counts, depths)),
        ActiveTotals(figures.sources, figures.enabled_sources),
        ActiveTotals(figures.proxies, figures.active_proxies),
        ProductTotals(figures.items),
        Performance(running, rate, rounded(day.average_ms), day.total),
    )


@operation(
    "GET",
    "/api/admin/queues",
    "Show the queues",
    access="admin",
    errors=(errors.QUEUE_ERROR,),
    response_example=examples.QUEUES,
)
async def show_queues(services: MonitoringServices) -> QueueList:
    """Show how many tasks are due, in a worker's hand, and wait for a parser."""
    try:
        depths, alive = await services.recrawls.depths(), await services.workers.alive()
    except Unavailable as error:
        raise ApiFailure(errors.QUEUE_ERROR) from error
    fetch, parse = alive.get("fetch", 0), alive.get("parse", 0)
    return QueueList(
        [
            QueueBody("crawl_queue", depths.ready, depths.in_hand, fetch),
            QueueBody("parse_queue", depths.offered, depths.parsing, parse),
            QueueBody("priority_queue", depths.urgent_ready, depths.urgent_in_hand, fetch),
        ]
    )


MONITORING = (show_services, show_stats, show_queues)


def _by_status(counts: Mapping[str, int], depths: QueueDepths) -> dict[str, int]:
    """Return the numbers of tasks by status: a task that waits is queued if it is due, or in a worker's hand."""
    queued, crawling = depths.urgent_ready + depths.ready, depths.urgent_in_hand + depths.in_hand
    found: dict[str, int] = {status: counts.get(status, 0) for status in get_args(TaskStatus)}
    found["pending"] = max(0, found["pending"] - queued - crawling)
    found["queued_parse"] = max(0, found["queued_parse"] - depths.parsing)
    return found | {"queued": queued, "crawling": crawling, "parsing": depths.parsing}
