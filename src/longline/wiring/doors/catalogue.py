"""Wiring of the catalogue API."""

from longline.model.callers.door import CATALOGUE
from longline.services.callers.audit_trail import AuditTrail
from longline.services.callers.door_settings import DoorSettings
from longline.services.sources.source_cache import SourceCache, SourceCacheCleaner
from longline.surfaces.catalogue.administration import NotificationServices, PauseServices
from longline.surfaces.catalogue.audit_log import AuditServices
from longline.surfaces.catalogue.comics import ComicServices
from longline.surfaces.catalogue.door import CatalogueServices
from longline.surfaces.catalogue.jobs.batch import CatalogueBatchServices
from longline.surfaces.catalogue.jobs.job_logs import CatalogueLogServices
from longline.surfaces.catalogue.jobs.jobs import CatalogueJobServices
from longline.surfaces.catalogue.settings import SettingServices
from longline.surfaces.catalogue.sources.response_cache import LIST_KEY, keys_of
from longline.surfaces.catalogue.sources.sources import CatalogueSourceServices
from longline.wiring.doors.products import alerts
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import catalogue_logs
from longline.wiring.subjects.runs import maintenance, queued_runs, series_runs
from longline.wiring.subjects.sources import catalogue_series, source_service


def catalogue_services(platform: Platform) -> CatalogueServices:
    """Return the services behind the catalogue API."""
    records = platform.records
    sources = source_service(platform)
    series, runs = catalogue_series(platform), series_runs(platform)
    cache = SourceCache(records.catalogues.versions, platform.cache, platform.clock)
    return CatalogueServices(
        sources=CatalogueSourceServices(sources, runs, cache),
        comics=ComicServices(series, sources),
        jobs=CatalogueJobServices(runs, series, sources),
        logs=CatalogueLogServices(runs, catalogue_logs(platform)),
        audit=AuditServices(AuditTrail(records.audit), platform.clock.now),
        pauses=PauseServices(queued_runs(platform)),
        notifications=NotificationServices(alerts(platform)),
        batch=CatalogueBatchServices(maintenance(platform)),
        settings=SettingServices(DoorSettings(records.door_settings, CATALOGUE)),
    )


def source_cache_cleaner(platform: Platform) -> SourceCacheCleaner:
    """Return the chore that removes entries of changed sources from the cache in Redis."""
    return SourceCacheCleaner(platform.records.catalogues.versions, platform.cache, LIST_KEY, keys_of)
