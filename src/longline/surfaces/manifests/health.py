"""`/operators/health`, `/health/live` and `/health/ready`: the state of the components."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from longline.services.health import CheckResult, Health
from longline.surfaces.operation import ApiResponse, operation

ComponentStatus = Literal["ok", "degraded", "down"]
CRITICAL_COMPONENTS = frozenset({"ledger", "broker", "storage"})
"""Components without which no manifest can be taken: their failure is answered with 503."""

_WORDS: dict[str, ComponentStatus] = {"healthy": "ok", "degraded": "degraded", "unhealthy": "down"}


@dataclass(frozen=True, slots=True)
class ComponentServices:
    """The checks of the components: ledger, broker, storage and proxy pools."""

    health: Health


class ComponentBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of one component."""

    status: ComponentStatus
    detail: str | None = None
    latency_ms: float | None = None


class ComponentsBody(msgspec.Struct, frozen=True):
    """The state of all components."""

    status: Literal["ok", "degraded"]
    components: dict[str, ComponentBody]


class ReadyBody(msgspec.Struct, frozen=True):
    """Whether the service can take manifests."""

    status: Literal["ok", "unavailable"]


@operation(
    "GET",
    "/operators/health",
    "Report the components",
    access="operator",
    answers={200: ComponentsBody, 503: ComponentsBody},
)
async def show_components(services: ComponentServices) -> ApiResponse[ComponentsBody]:
    """Answer 503 if a critical component does not work."""
    report = await services.health.report()
    components = {"api": ComponentBody("ok")} | {name: _component(one) for name, one in report.checks.items()}
    body = ComponentsBody("ok" if report.status == "healthy" else "degraded", components)
    return ApiResponse(body, 503 if report.status == "unhealthy" else 200)


@operation("GET", "/health/live", "Report that the process answers", access="public")
async def show_live() -> ReadyBody:
    return ReadyBody("ok")


@operation(
    "GET",
    "/health/ready",
    "Report whether manifests can be taken",
    access="public",
    answers={200: ReadyBody, 503: ReadyBody},
)
async def show_ready(services: ComponentServices) -> ApiResponse[ReadyBody]:
    ready = await is_ready(services.health)
    return ApiResponse(ReadyBody("ok" if ready else "unavailable"), 200 if ready else 503)


async def is_ready(health: Health) -> bool:
    """Return whether every critical component works."""
    return (await health.report()).status != "unhealthy"


def _component(found: CheckResult) -> ComponentBody:
    return ComponentBody(_WORDS[found.status], found.detail or found.error, found.response_time_ms)


COMPONENTS = (show_components, show_live, show_ready)
