"""`/health`: whether the platform works, for load balancers and people. Public."""

from typing import Literal

import msgspec
from litestar import HttpMethod, Response, route
from litestar.handlers import HTTPRouteHandler

from longline.model.duration import show_duration
from longline.services.health import CheckResult, Health, Status


class HealthBody(msgspec.Struct, frozen=True):
    """The answer, in the words of the interval contract."""

    status: Status
    service: Literal["crawler"]
    version: str
    uptime: str
    checks: dict[str, CheckResult]


def health_route(health: Health, version: str) -> HTTPRouteHandler:
    """The handler for GET and HEAD."""

    @route("/health", http_method=[HttpMethod.GET, HttpMethod.HEAD], summary="Whether the platform works")
    async def show_health() -> Response[HealthBody]:
        report = await health.report()
        body = HealthBody(report.status, "crawler", version, show_duration(int(report.uptime)), report.checks)
        return Response(body, status_code=503 if report.status == "unhealthy" else 200)

    return show_health
