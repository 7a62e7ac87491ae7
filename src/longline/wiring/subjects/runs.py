"""Parts of runs: their queue, runs of catalogues, the effects of their ends, their deletion, and maintenance."""

from functools import partial

import msgspec

from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.maintenance import MaintenanceRunner, MaintenanceTask
from longline.engine.runs.due_runs import DueRunStarter, PlannedKind
from longline.engine.runs.end_effects import RunEffectWorker
from longline.engine.runs.retention import Retention, RunDeleter
from longline.engine.series.automatic_runs import AutomaticSeriesRuns
from longline.engine.series.series_plans import SeriesPlans
from longline.model.logs.log_months import month_name
from longline.model.maintenance.maintenance_run import MaintenanceResult
from longline.model.runs.end_effect import RunEffectKind
from longline.model.runs.retention import RetentionAges
from longline.model.runs.run import DueRun, RunKind
from longline.ports.run_queue import RunQueue
from longline.services.maintenance import Maintenance
from longline.services.runs.queued_runs import QueuedRuns
from longline.services.series.series_runs import SeriesRuns, show_in_queue
from longline.settings import Settings
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import log_month_keeper, run_log_blobs
from longline.wiring.subjects.manifests import manifest_endings


def due_run_starter(platform: Platform, run_log: RunLogWriter | None = None) -> DueRunStarter:
    """Return the starter of queued runs, with a planner for each kind whose plans are made at the start."""
    records = platform.records
    series = SeriesPlans(
        records.sources, records.catalogues.targets, records.door_settings, platform.parsers, platform.vault
    )
    planned = PlannedKind(series, partial(_see_start, run_log, platform.run_queue))
    return DueRunStarter(platform.lifecycle, records.due_runs, records.runs, {RunKind.SERIES: planned})


async def _see_start(run_log: RunLogWriter | None, queue: RunQueue | None, run: DueRun) -> None:
    """Begin the log of a run, and show the run in the copy of the queue if its time had not come when it was queued."""
    if run_log is not None:
        await run_log.begin_now(run.id)
    if queue is not None and run.was_delayed:
        await show_in_queue(queue, run.uid)


def queued_runs(platform: Platform) -> QueuedRuns:
    """Return the service of runs that wait for their time."""
    return QueuedRuns(platform.records.runs, platform.records.due_runs, platform.clock)


def series_runs(platform: Platform) -> SeriesRuns:
    """Return the service of runs of catalogues."""
    records = platform.records
    return SeriesRuns(records.catalogues.runs, platform.lifecycle, records.logs, platform.clock, platform.run_queue)


def automatic_series_runs(platform: Platform) -> AutomaticSeriesRuns:
    """Return the maker of runs of catalogues that start by themselves."""
    return AutomaticSeriesRuns(platform.records.catalogues.automatic, platform.clock)


def run_effect_worker(platform: Platform) -> RunEffectWorker:
    """Return the worker that carries out the effects of run ends, with a handler for each kind."""
    effects = platform.records.run_effects
    endings = manifest_endings(platform)
    handlers = {RunEffectKind.SOURCE_HEALTH: effects.note_health, RunEffectKind.MANIFEST: endings.carry_out}
    return RunEffectWorker(effects, handlers)


def run_deleter(platform: Platform) -> RunDeleter:
    """Return the deleter of single runs."""
    return RunDeleter(platform.records.retention, platform.blobs, run_log_blobs(platform))


def retention(platform: Platform) -> Retention:
    """Return the chore that deletes runs, tasks, events and segments that are too old."""
    records = platform.records
    ages = retention_ages(platform.settings)
    return Retention(records.retention, records.candidates, run_deleter(platform), platform.blobs, ages, platform.clock)


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


def maintenance(platform: Platform) -> Maintenance:
    """Return the service of maintenance tasks."""
    return Maintenance(maintenance_runner(platform), platform.records.maintenance, platform.clock)


def maintenance_runner(platform: Platform) -> MaintenanceRunner:
    """Return the runner of all maintenance tasks."""
    return MaintenanceRunner(_tasks(platform), platform.records.maintenance, platform.clock)


def _tasks(platform: Platform) -> dict[str, MaintenanceTask]:
    keeper = log_month_keeper(platform)

    async def make_months() -> MaintenanceResult:
        return MaintenanceResult(0, msgspec.json.encode({"months": await keeper.make_ahead()}).decode())

    async def archive_months() -> MaintenanceResult:
        gone = await keeper.archive_old()
        names = [month_name(each.month) for each in gone]
        return MaintenanceResult(sum(each.lines for each in gone), msgspec.json.encode({"months": names}).decode())

    tasks = (
        MaintenanceTask("log months", "Make the month of logs that comes next.", "35 0 1 * *", make_months),
        MaintenanceTask("log archive", "Archive and delete months of logs that are old.", "35 1 1 * *", archive_months),
    )
    return {task.key: task for task in tasks}
