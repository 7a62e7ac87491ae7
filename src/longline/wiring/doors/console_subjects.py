"""The services behind the pages of the console's subjects."""

from longline.console.subjects import SubjectServices
from longline.services.archive.pages import ArchivedPages
from longline.services.callers.audit_trail import AuditTrail
from longline.services.frontier.host_lists import HostLists
from longline.services.frontier.task_lists import TaskLists
from longline.services.frontier.task_moves import TaskMoves
from longline.services.runs.run_pages import RunPages
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.services.schedules.run_history import Runs
from longline.services.schedules.slots import Slots
from longline.services.sources.source_overview import SourceOverviews
from longline.wiring.doors.intervals import schedule_services
from longline.wiring.parts.sources import source_robots, source_service
from longline.wiring.platform import Platform


def subject_services(platform: Platform, runs: RunPages) -> SubjectServices:
    """Return the services behind the pages of subjects."""
    records = platform.records
    schedules, source_schedules = schedule_services(platform, records)
    return SubjectServices(
        sources=source_service(platform),
        source_overviews=SourceOverviews(records),
        source_schedules=source_schedules,
        source_robots=source_robots(platform),
        parsers=tuple(sorted(platform.parsers.names)),
        schedules=schedules,
        schedule_runs=Runs(records.history, records.schedules, records.counters, platform.clock),
        intervals=AdaptiveIntervals(platform.page_change_store),
        audit=AuditTrail(records.audit),
        slots=Slots(records.schedules, platform.clock),
        tasks=TaskLists(records),
        task_mover=TaskMoves(platform.lifecycle),
        hosts=HostLists(records.host_lists, records.workers),
        archive=ArchivedPages(records.pages, platform.blobs),
        runs=runs,
    )
