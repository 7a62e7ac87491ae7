"""Wiring of the web console."""

from longline import __version__
from longline.console.door import VISITORS, ConsoleServices, console_door
from longline.services.callers.callers import Callers
from longline.services.callers.console_sessions import ConsoleSessions, OneTimeLogin
from longline.services.frontier.task_moves import TaskMoves
from longline.services.health import Health
from longline.services.logs.live_logs import LiveLogs
from longline.services.logs.log_pages import LogPages
from longline.services.metrics.platform_alerts import PlatformAlerts
from longline.services.metrics.task_and_run_counts import Counts
from longline.services.metrics.throughput import Throughput
from longline.services.overview import Overview, OverviewParts
from longline.services.runs.run_actions import RunActions
from longline.services.runs.run_views import RunPages
from longline.services.search.global_search import Finder
from longline.services.search.item_search import Searches
from longline.surfaces.door import Door
from longline.wiring.doors.console_subjects import subject_services
from longline.wiring.doors.streams import Streams
from longline.wiring.platform import Platform
from longline.wiring.subjects.callers import access_tokens, api_keys
from longline.wiring.subjects.logs import run_log_blobs
from longline.wiring.subjects.metrics import worker_liveness


def console(platform: Platform, streams: Streams, health: Health, link: OneTimeLogin | None = None) -> Door:
    """Return the console; `link` logs in once."""
    records, clock = platform.records, platform.clock
    callers = Callers(access_tokens(platform), api_keys(platform))
    runs = RunPages(records.run_views, records.runs, platform.clock)
    return console_door(
        ConsoleServices(
            sessions=ConsoleSessions(records.console_sessions, callers, clock, VISITORS, link),
            runs=runs,
            subjects=subject_services(platform, runs, streams.alerts),
            overview=overview(platform, health, runs, streams.alerts),
            run_actions=RunActions(runs, platform.lifecycle, TaskMoves(platform.lifecycle)),
            logs=LiveLogs(LogPages(records.log_pages, run_log_blobs(platform)), streams.followers),
            finder=Finder(records.run_views, records.sources, Searches(platform.search, records.items)),
            live=streams.pages,
            now=clock.now,
            version=__version__,
        )
    )


def overview(platform: Platform, health: Health, runs: RunPages, alerts: PlatformAlerts) -> Overview:
    """Return the reader of the overview."""
    records = platform.records
    return Overview(
        OverviewParts(
            throughput=Throughput(records.throughput, platform.clock),
            counts=Counts(records.tasks, records.runs),
            queue=records.figures,
            runs=runs,
            failing=records.failing_sources,
            alerts=alerts,
            health=health,
            workers=worker_liveness(platform),
        )
    )
