"""Wiring of the catalogue API."""

from longline.services.callers.audit_trail import AuditTrail
from longline.services.callers.door_settings import DoorSettings
from longline.services.logs.log_pages import LogPages
from longline.services.maintenance import Maintenance
from longline.services.runs.queued_runs import QueuedRuns
from longline.services.series.series import Series
from longline.services.series.series_runs import SeriesRuns
from longline.services.sources.source_cache import SourceCache, SourceCacheCleaner
from longline.surfaces.catalogue.administration import NotificationServices, PauseServices
from longline.surfaces.catalogue.audit_log import AuditServices
from longline.surfaces.catalogue.batch import CatalogueBatchServices
from longline.surfaces.catalogue.comics import ComicServices
from longline.surfaces.catalogue.door import NAME, CatalogueServices
from longline.surfaces.catalogue.jobs import CatalogueJobServices
from longline.surfaces.catalogue.logs import CatalogueLogServices
from longline.surfaces.catalogue.response_cache import LIST_KEY, keys_of
from longline.surfaces.catalogue.settings import SettingServices
from longline.surfaces.catalogue.sources import CatalogueSourceServices
from longline.wiring.doors.products import alerts
from longline.wiring.parts.runs import maintenance_runner
from longline.wiring.parts.sources import source_service
from longline.wiring.platform import Platform


def catalogue_services(platform: Platform) -> CatalogueServices:
    """Return the services behind the catalogue API."""
    records = platform.records
    sources = source_service(platform)
    series = Series(records.catalogues.series, records.catalogues.targets, records.sources)
    runs = SeriesRuns(records.catalogues.runs, platform.lifecycle, records.logs, platform.clock, platform.run_queue)
    cache = SourceCache(records.catalogues.versions, platform.cache, platform.clock)
    return CatalogueServices(
        sources=CatalogueSourceServices(sources, runs, cache),
        comics=ComicServices(series, sources),
        jobs=CatalogueJobServices(runs, series, sources),
        logs=CatalogueLogServices(runs, LogPages(records.log_pages, platform.blobs)),
        audit=AuditServices(AuditTrail(records.audit), platform.clock.now),
        pauses=PauseServices(QueuedRuns(records.runs, records.due_runs, platform.clock)),
        notifications=NotificationServices(alerts(platform)),
        batch=CatalogueBatchServices(Maintenance(maintenance_runner(platform), records.maintenance, platform.clock)),
        settings=SettingServices(DoorSettings(records.door_settings, NAME)),
    )


def source_cache_cleaner(platform: Platform) -> SourceCacheCleaner:
    """Return the chore that removes entries of changed sources from the cache in Redis."""
    return SourceCacheCleaner(platform.records.catalogues.versions, platform.cache, LIST_KEY, keys_of)
