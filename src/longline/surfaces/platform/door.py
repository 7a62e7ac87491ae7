"""The paths of the platform itself, which belong to no contract: health, metrics and documentation."""

from dataclasses import dataclass

from longline.model.callers.door import PLATFORM
from longline.model.callers.roles import NOT_BANNED
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.platform.documentation.pages import DOCUMENTATION, Documentation
from longline.surfaces.platform.health import HEALTH, HealthServices
from longline.surfaces.platform.metrics_endpoint import METRICS, MetricsServices


@dataclass(frozen=True, slots=True)
class PlatformServices:
    """The services behind the paths of the platform."""

    health: HealthServices
    metrics: MetricsServices
    documentation: Documentation


def platform_door(services: PlatformServices, callers: Callers, *, metrics_open: bool) -> Door:
    """Return the API of the platform; with `metrics_open`, `/metrics` needs no token."""
    about = "The platform itself: health, metrics and documentation."
    return Door(
        name=PLATFORM,
        title="Platform",
        prefixes=("/",),
        format=ErrorFormat(),
        groups=(
            OperationGroup("platform", about, HEALTH, services.health),
            OperationGroup("platform", about, METRICS, services.metrics),
            OperationGroup("platform", about, DOCUMENTATION, services.documentation),
        ),
        access={"public": PUBLIC, "metrics": PUBLIC if metrics_open else DoorAccess(callers, PLATFORM).of(NOT_BANNED)},
    )
