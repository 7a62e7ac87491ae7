"""Parts of runs: the effects of their ends, and their deletion."""

from longline.engine.runs.due_runs import DueRunStarter
from longline.engine.runs.end_effects import RunEffectWorker
from longline.engine.runs.retention import Retention, RunDeleter
from longline.engine.runs.series_plans import SeriesPlans
from longline.model.runs.effect import RunEffectKind
from longline.model.runs.retention import RetentionAges
from longline.model.runs.run import RunKind
from longline.settings import Settings
from longline.wiring.house import House
from longline.wiring.parts.logs import run_log_blobs
from longline.wiring.parts.manifests import manifest_endings


def due_run_starter(house: House) -> DueRunStarter:
    """Return the starter of queued runs, with a planner for each kind whose plans are made at the start."""
    records = house.records
    series = SeriesPlans(records.sources, records.catalogues.targets, records.door_settings, house.parsers)
    return DueRunStarter(house.lifecycle, records.due_runs, records.runs, {RunKind.SERIES: series})


def run_effect_worker(house: House) -> RunEffectWorker:
    """Return the worker that carries out the effects of run ends, with a handler for each kind."""
    effects = house.records.run_effects
    endings = manifest_endings(house)
    handlers = {RunEffectKind.SOURCE_HEALTH: effects.note_health, RunEffectKind.MANIFEST: endings.carry_out}
    return RunEffectWorker(effects, handlers)


def run_deleter(house: House) -> RunDeleter:
    """Return the deleter of single runs."""
    return RunDeleter(house.records.retention, house.blobs, run_log_blobs(house))


def retention(house: House) -> Retention:
    """Return the chore that deletes runs, tasks, events and segments that are too old."""
    records = house.records
    ages = retention_ages(house.settings)
    return Retention(records.retention, records.candidates, run_deleter(house), house.blobs, ages, house.clock)


def retention_ages(settings: Settings) -> RetentionAges:
    """Return the ages of the settings, in milliseconds."""
    return RetentionAges(
        crawls_ms=round(settings.retention_crawls * 1000),
        scheduled_ms=round(settings.retention_scheduled * 1000),
        service_ms=round(settings.retention_service * 1000),
        standing_ms=round(settings.retention_standing * 1000),
        bots_ms=round(settings.retention_bots * 1000),
        events_ms=round(settings.retention_events * 1000),
        visits_ms=round(settings.retention_visits * 1000),
        max_scheduled=settings.retention_max_scheduled,
    )
