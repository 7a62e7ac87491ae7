"""The catalogue API as one value: its operations by subject, its access checks and its rate limits."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Gauge

from longline.model.callers.door import CATALOGUE
from longline.model.callers.roles import ADMINS
from longline.model.runs.run import RunKind
from longline.model.series.series_run import CatalogueFigures
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.catalogue.administration import (
    NOTIFICATION_OPERATIONS,
    PAUSE_OPERATIONS,
    NotificationServices,
    PauseServices,
)
from longline.surfaces.catalogue.audit_log import AUDIT_OPERATIONS, AuditServices
from longline.surfaces.catalogue.comics import COMIC_OPERATIONS, ComicServices
from longline.surfaces.catalogue.error_format import CatalogueFormat
from longline.surfaces.catalogue.jobs.batch import BATCH_OPERATIONS, CatalogueBatchServices
from longline.surfaces.catalogue.jobs.job_logs import LOG_OPERATIONS, CatalogueLogServices
from longline.surfaces.catalogue.jobs.jobs import JOB_OPERATIONS, CatalogueJobServices
from longline.surfaces.catalogue.rate_limits import LIMITS
from longline.surfaces.catalogue.settings import SETTING_OPERATIONS, SettingServices, closed_for_maintenance
from longline.surfaces.catalogue.sources.sources import SOURCE_OPERATIONS, CatalogueSourceServices
from longline.surfaces.door import Door, OperationGroup


@dataclass(frozen=True, slots=True)
class CatalogueServices:
    """The services behind the catalogue API, by subject."""

    sources: CatalogueSourceServices
    comics: ComicServices
    jobs: CatalogueJobServices
    logs: CatalogueLogServices
    audit: AuditServices
    settings: SettingServices
    pauses: PauseServices
    notifications: NotificationServices
    batch: CatalogueBatchServices


class CatalogueMetrics:
    """Gauges of jobs and sources, in the given registry; they are read at each scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._jobs = Gauge("longline_catalogue_jobs", "Jobs that have not finished.", ("status",), registry=registry)
        self._stuck = Gauge(
            "longline_catalogue_stuck_jobs", "Jobs that run for over 30 minutes: an alert.", registry=registry
        )
        self._paused = Gauge("longline_catalogue_paused", "Whether queued jobs wait for a resume.", registry=registry)
        self._sources = Gauge(
            "longline_catalogue_sources",
            "Sources with an extension; failing ones are enabled.",
            ("state",),
            registry=registry,
        )

    def set(self, figures: CatalogueFigures, *, is_paused: bool) -> None:
        """Show figures."""
        for status in ("queued", "running"):
            self._jobs.labels(status).set(getattr(figures, status))
        for state in ("enabled", "disabled", "failing"):
            self._sources.labels(state).set(getattr(figures, state))
        self._stuck.set(figures.stuck)
        self._paused.set(is_paused)


def catalogue_door(services: CatalogueServices, callers: Callers, registry: CollectorRegistry) -> Door:
    """Return the catalogue API; every operation is for admins. Its metrics are registered in `registry`."""
    metrics = CatalogueMetrics(registry)
    admins = closed_for_maintenance(
        DoorAccess(callers, CATALOGUE, limits=LIMITS).of(ADMINS), services.settings.settings
    )

    async def refresh_metrics() -> None:
        paused = RunKind.SERIES in await services.pauses.queue.paused()
        metrics.set(await services.jobs.runs.figures(), is_paused=paused)

    return Door(
        name=CATALOGUE,
        title="Catalogue admin",
        prefixes=("/api/v1/admin",),
        format=CatalogueFormat(),
        groups=(
            OperationGroup("catalogue sources", "Sources of the catalogue.", SOURCE_OPERATIONS, services.sources),
            OperationGroup("comics", "Comics and their pages on sources.", COMIC_OPERATIONS, services.comics),
            OperationGroup("catalogue jobs", "Crawls of sources and comics.", JOB_OPERATIONS, services.jobs),
            OperationGroup("catalogue logs", "Logs of jobs.", LOG_OPERATIONS, services.logs),
            OperationGroup("catalogue pauses", "Whether queued jobs start.", PAUSE_OPERATIONS, services.pauses),
            OperationGroup(
                "notifications",
                "Conditions that admins should know of.",
                NOTIFICATION_OPERATIONS,
                services.notifications,
            ),
            OperationGroup("batch jobs", "Maintenance by cron or on order.", BATCH_OPERATIONS, services.batch),
            OperationGroup("audit log", "Changes, and their authors.", AUDIT_OPERATIONS, services.audit),
            OperationGroup("catalogue settings", "Settings of this API.", SETTING_OPERATIONS, services.settings),
        ),
        access={"admin": admins},
        limiter=admins.limiter,
        refresh_metrics=refresh_metrics,
    )
