"""The interval API as one value: its operations by subject, its access checks and its metrics."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from longline.services.standing_frontier import StandingFrontier
from longline.services.tokens import Tokens
from longline.surfaces.access import token_access
from longline.surfaces.door import PUBLIC, Access, Door, HttpRequest, OperationGroup
from longline.surfaces.intervals.backfill import BACKFILL
from longline.surfaces.intervals.format import INVALID_SECRET, IntervalFormat
from longline.surfaces.intervals.frontier import FRONTIER
from longline.surfaces.intervals.jobs.executions import EXECUTIONS
from longline.surfaces.intervals.jobs.jobs import JOBS, JobServices
from longline.surfaces.intervals.jobs.scheduler import SCHEDULER, SchedulerServices
from longline.surfaces.intervals.links import DOMAINS, LINKS, DiscoveredServices
from longline.surfaces.intervals.logs import LOGS, LogServices
from longline.surfaces.intervals.metrics import IntervalMetrics
from longline.surfaces.intervals.previews import INTERNAL, SITE_PREVIEWS, PreviewServices
from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.sources import SOURCES
from longline.surfaces.intervals.streams import STREAMS, StreamServices
from longline.surfaces.operation import ApiFailure


@dataclass(frozen=True, slots=True)
class IntervalParts:
    """The services behind the interval API; operations without their services are not served."""

    services: IntervalServices
    logs: LogServices | None = None
    events: StreamServices | None = None
    urls: StandingFrontier | None = None
    discovered: DiscoveredServices | None = None


def intervals_door(parts: IntervalParts, tokens: Tokens, registry: CollectorRegistry) -> Door:
    """Return the interval API; its metrics are registered in `registry`."""
    return Door(
        name="intervals",
        prefixes=("/api/v1", "/api/v2", "/api/internal/v1", "/sse"),
        format=IntervalFormat(),
        groups=tuple(_groups(parts)),
        access={
            "public": PUBLIC,
            "token": token_access(tokens),
            "internal": _internal_access(parts.services.internal_secret),
        },
        take_stock=IntervalMetrics(parts.services.runs, parts.urls, registry).take_stock,
    )


def _groups(parts: IntervalParts) -> Iterator[OperationGroup]:
    services = parts.services
    jobs = JobServices(services.schedules, services.lease_ms)
    scheduler = SchedulerServices(services.runs, services.slots, services.planning)
    previews = PreviewServices(services.glances, services.trials)
    yield OperationGroup("jobs", "Crawls that run once or at intervals.", JOBS, jobs)
    yield OperationGroup("executions", "Runs of jobs, and their figures.", EXECUTIONS, services.runs)
    yield OperationGroup("scheduler", "Start times of jobs over the day.", SCHEDULER, scheduler)
    yield OperationGroup("backfill", "Crawls of sources with short documents.", BACKFILL, services.backfill)
    yield OperationGroup("sources", "Sites to crawl, with their settings.", SITE_PREVIEWS, previews)
    if services.internal_secret:
        yield OperationGroup("internal", "Operations for other internal services.", INTERNAL, previews)
    yield OperationGroup("sources", "Sites to crawl, with their settings.", SOURCES, services)
    yield from _optional_groups(parts)


def _optional_groups(parts: IntervalParts) -> Iterator[OperationGroup]:
    if parts.urls is not None:
        yield OperationGroup("frontier", "Single URLs to fetch.", FRONTIER, parts.urls)
    if parts.discovered is not None:
        yield OperationGroup("discovered links", "Links from sources to other sites.", LINKS, parts.discovered)
        yield OperationGroup("discovered domains", "Domains that such links lead to.", DOMAINS, parts.discovered)
    if parts.logs is not None:
        yield OperationGroup("logs", "Logs of executions.", LOGS, parts.logs)
    if parts.events is not None:
        yield OperationGroup("streams", "Live events.", STREAMS, parts.events)


def _internal_access(secret: str) -> Access:
    """Return the access with the secret that internal services share."""

    def check(request: HttpRequest) -> None:
        if not hmac.compare_digest((request.header(b"x-internal-secret") or "").encode(), secret.encode()):
            raise ApiFailure(INVALID_SECRET)

    return Access(check, ("internal_secret",))
