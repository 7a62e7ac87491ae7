"""The paths of the platform itself, which belong to no contract: health, metrics and the OpenAPI document."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from longline.services.tokens import Tokens
from longline.surfaces.access import token_access
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.health import HEALTH, HealthServices
from longline.surfaces.metrics import METRICS, MetricsServices
from longline.surfaces.operation import operation


@dataclass(frozen=True, slots=True)
class DocumentServices:
    """The OpenAPI document, made when it is first requested."""

    document: Callable[[], Mapping[str, Any]]


@operation("GET", "/openapi.json", "Return the OpenAPI document", access="public")
async def show_openapi(services: DocumentServices) -> dict[str, Any]:
    return dict(services.document())


@dataclass(frozen=True, slots=True)
class PlatformServices:
    """The services behind the paths of the platform."""

    health: HealthServices
    metrics: MetricsServices
    documents: DocumentServices


def platform_door(services: PlatformServices, tokens: Tokens, *, metrics_open: bool) -> Door:
    """Return the API of the platform; with `metrics_open`, `/metrics` needs no token."""
    about = "The platform itself: health, metrics and documentation."
    return Door(
        name="platform",
        prefixes=("/",),
        format=ErrorFormat(),
        groups=(
            OperationGroup("platform", about, HEALTH, services.health),
            OperationGroup("platform", about, METRICS, services.metrics),
            OperationGroup("platform", about, (show_openapi,), services.documents),
        ),
        access={"public": PUBLIC, "metrics": PUBLIC if metrics_open else token_access(tokens)},
    )
