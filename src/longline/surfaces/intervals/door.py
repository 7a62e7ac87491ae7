"""The interval API as one value: its operations by subject, its access checks and its metrics."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from longline.model.callers.door import INTERVALS
from longline.model.callers.roles import OPERATORS
from longline.services.callers.callers import Callers
from longline.services.frontier.standing_frontier import StandingFrontier
from longline.services.schedules.backfill import Backfill
from longline.services.schedules.run_history import Runs
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import PUBLIC, Access, Door, HttpRequest, OperationGroup
from longline.surfaces.intervals.backfill import BACKFILL
from longline.surfaces.intervals.error_format import IntervalFormat
from longline.surfaces.intervals.errors import INVALID_SECRET
from longline.surfaces.intervals.event_streams import STREAMS, StreamServices
from longline.surfaces.intervals.frontier import FRONTIER
from longline.surfaces.intervals.jobs.executions import EXECUTIONS
from longline.surfaces.intervals.jobs.jobs import JOBS, JobServices
from longline.surfaces.intervals.jobs.scheduler import SCHEDULER, SchedulerServices
from longline.surfaces.intervals.links.links import DOMAINS, LINKS, DiscoveredServices
from longline.surfaces.intervals.logs import LOGS, LogServices
from longline.surfaces.intervals.metrics import IntervalMetrics
from longline.surfaces.intervals.previews import INTERNAL, SITE_PREVIEWS, PreviewServices
from longline.surfaces.intervals.sources.sources import SOURCES, SourceServices
from longline.surfaces.operation import ApiFailure


@dataclass(frozen=True, slots=True)
class IntervalServices:
    """The services behind the interval API, by subject; the operations of a subject without services are not served.

    Without an `internal_secret` there are no operations for internal services.
    """

    jobs: JobServices
    runs: Runs
    scheduler: SchedulerServices
    backfill: Backfill
    sources: SourceServices
    previews: PreviewServices
    internal_secret: str = ""
    standing_frontier: StandingFrontier | None = None
    discovered: DiscoveredServices | None = None
    logs: LogServices | None = None
    streams: StreamServices | None = None


def intervals_door(
    services: IntervalServices, callers: Callers, registry: CollectorRegistry, *, is_open: bool = False
) -> Door:
    """Return the interval API; its metrics are registered in `registry`. With `is_open` it needs no credentials."""
    access = DoorAccess(callers, INTERVALS, is_open=is_open)
    return Door(
        name=INTERVALS,
        title="Interval crawler",
        prefixes=("/api/v1", "/api/v2", "/api/internal/v1", "/sse"),
        format=IntervalFormat(),
        groups=(*_groups(services), *_optional_groups(services)),
        access={
            "public": PUBLIC,
            "token": access.of(OPERATORS),
            "stream": access.of_streams(OPERATORS),
            "internal": _internal_access(services.internal_secret),
        },
        refresh_metrics=IntervalMetrics(services.runs, services.standing_frontier, registry).refresh,
    )


def _groups(services: IntervalServices) -> Iterator[OperationGroup]:
    sources = "Sites to crawl, with their settings."
    yield OperationGroup("jobs", "Crawls that run once or at intervals.", JOBS, services.jobs)
    yield OperationGroup("executions", "Runs of jobs, and their figures.", EXECUTIONS, services.runs)
    yield OperationGroup("scheduler", "Start times of jobs over the day.", SCHEDULER, services.scheduler)
    yield OperationGroup("backfill", "Crawls of sources with short documents.", BACKFILL, services.backfill)
    yield OperationGroup("sources", sources, SOURCES, services.sources)
    yield OperationGroup("sources", sources, SITE_PREVIEWS, services.previews)
    if services.internal_secret:
        yield OperationGroup("internal", "Operations for other internal services.", INTERNAL, services.previews)


def _optional_groups(services: IntervalServices) -> Iterator[OperationGroup]:
    if services.standing_frontier is not None:
        yield OperationGroup("frontier", "Single URLs to fetch.", FRONTIER, services.standing_frontier)
    if services.discovered is not None:
        yield OperationGroup("discovered links", "Links from sources to other sites.", LINKS, services.discovered)
        yield OperationGroup("discovered domains", "Domains that such links lead to.", DOMAINS, services.discovered)
    if services.logs is not None:
        yield OperationGroup("logs", "Logs of executions.", LOGS, services.logs)
    if services.streams is not None:
        yield OperationGroup("streams", "Live events.", STREAMS, services.streams)


def _internal_access(secret: str) -> Access:
    """Return the access with the secret that internal services share."""

    def check(request: HttpRequest) -> None:
        if not hmac.compare_digest((request.header(b"x-internal-secret") or "").encode(), secret.encode()):
            raise ApiFailure(INVALID_SECRET)

    return Access(check, ("internal_secret",))
