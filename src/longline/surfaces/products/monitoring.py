"""`/api/health`: the engines of the platform under the names of the contract."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from longline.services.health import Health, Report, Status
from longline.surfaces.operation import ApiResponse, operation
from longline.surfaces.products import examples
from longline.surfaces.products.fields import Timestamp, time_text

SERVICES = {"database": "database", "rabbitmq": "database", "elasticsearch": "search"}
"""The contract's services, and the check of the engine that does their work; the queue is in the database."""


@dataclass(frozen=True, slots=True)
class MonitoringServices:
    """The health checks, the version of the program, and the names of the engines by the name of their check.

    `now` returns UTC milliseconds.
    """

    health: Health
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


MONITORING = (show_services,)
