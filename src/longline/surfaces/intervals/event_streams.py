"""`/sse/{crawler,health,metrics}/events`: live event streams."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

import msgspec

from longline.services.logs.event_streams import (
    Broker,
    ClientLimit,
    Counted,
    EngineHealth,
    RunAdvanced,
    RunEnded,
    ScheduleMoved,
    Stream,
    Subscription,
)
from longline.surfaces.intervals.errors import TOO_MANY_CONNECTIONS
from longline.surfaces.intervals.field_types import Timestamp, optional_rfc3339, rfc3339
from longline.surfaces.intervals.jobs.job_statuses import RUN_WORDS, SCHEDULE_WORDS, ExecutionStatus, JobStatus
from longline.surfaces.operation import ApiFailure, Content, operation
from longline.surfaces.sse import HEARTBEAT_INTERVAL_SECONDS, EventStream, frame

EVENT_STREAM = Content("text/event-stream")
STAGES: Mapping[str, Literal["crawled"]] = {"tasks_completed": "crawled"}
"""Figures that are also a stage of the pipeline; later stages belong to other services."""


@dataclass(frozen=True, slots=True)
class StreamServices:
    """The broker of events; `now` returns UTC milliseconds, and `start_publishing` starts the publishing of moves."""

    broker: Broker
    client_limit: ClientLimit
    now: Callable[[], int]
    start_publishing: Callable[[], Awaitable[object]]
    heartbeat_seconds: float = HEARTBEAT_INTERVAL_SECONDS


class ConnectedEvent(msgspec.Struct, frozen=True):
    """The first event of a stream."""

    timestamp: Timestamp
    message: str


class JobStatusDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """The error of a job, and the time of its next run."""

    error_message: str | None = None
    next_run_at: Timestamp | None = None


class JobStatusEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A job changed its state."""

    job_id: str
    status: JobStatus
    timestamp: Timestamp
    details: JobStatusDetails | None = None


class JobProgressEvent(msgspec.Struct, frozen=True):
    """The progress of an execution."""

    job_id: str
    execution_id: str
    items_found: int
    items_indexed: int
    timestamp: Timestamp


class JobCompletedEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """An execution ended."""

    job_id: str
    execution_id: str
    status: ExecutionStatus
    duration_ms: int
    items_indexed: int
    timestamp: Timestamp
    error_message: str | None = None


class HealthEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The health of one engine, or of the whole crawler; the latency is in milliseconds."""

    service: str
    status: str
    latency: float
    timestamp: Timestamp
    details: str | None = None


class MetricEvent(msgspec.Struct, frozen=True):
    """The number of tasks or runs in one state."""

    metric: str
    value: int
    timestamp: Timestamp


class StageEvent(msgspec.Struct, frozen=True):
    """The number of pages that have passed a stage of the pipeline."""

    stage: Literal["crawled"]
    count: int
    timestamp: Timestamp


NamedEvent = tuple[str, msgspec.Struct]
"""An event of the contract with its name."""


@operation(
    "GET",
    "/sse/crawler/events",
    "Stream the moves of jobs and executions",
    aliases=("/api/crawler/events",),
    access="stream",
    answers={200: EVENT_STREAM},
    errors=(TOO_MANY_CONNECTIONS,),
)
async def stream_crawler_events(services: StreamServices) -> EventStream:
    """Events: `connected`, `job:status`, `job:progress` and `job:completed`."""
    return _event_stream(services, "crawler")


@operation(
    "GET",
    "/sse/health/events",
    "Stream the health of the engines",
    aliases=("/api/health/events",),
    access="stream",
    answers={200: EVENT_STREAM},
    errors=(TOO_MANY_CONNECTIONS,),
)
async def stream_health_events(services: StreamServices) -> EventStream:
    """Events: `connected` and `health:status`."""
    return _event_stream(services, "health")


@operation(
    "GET",
    "/sse/metrics/events",
    "Stream figures of tasks and runs",
    aliases=("/api/metrics/events",),
    access="stream",
    answers={200: EVENT_STREAM},
    errors=(TOO_MANY_CONNECTIONS,),
)
async def stream_metrics_events(services: StreamServices) -> EventStream:
    """Events: `connected`, `metrics:update` and `pipeline:stage`."""
    return _event_stream(services, "metrics")


STREAMS = (stream_crawler_events, stream_health_events, stream_metrics_events)


def _event_stream(services: StreamServices, stream: Stream) -> EventStream:
    if not services.client_limit.take():
        raise ApiFailure(TOO_MANY_CONNECTIONS)
    client = services.broker.join(stream)

    def leave() -> None:
        services.broker.unsubscribe(stream, client)
        services.client_limit.release()

    frames = _frames(services, stream, client)
    return EventStream(frames, leave, client.lost, heartbeat=services.heartbeat_seconds)


async def _frames(services: StreamServices, stream: Stream, client: Subscription) -> AsyncGenerator[bytes]:
    if stream == "crawler":
        # Before the `connected` event: the client expects events of everything it does afterwards.
        await services.start_publishing()
    yield frame("connected", ConnectedEvent(rfc3339(services.now()), f"Connected to {stream} events"))
    async for happening in client:
        yield b"".join(frame(name, event) for name, event in contract_events(happening))


@singledispatch
def contract_events(happening: object) -> list[NamedEvent]:
    """Return the one or two events of the contract for an internal event."""
    raise TypeError(f"the contract has no event for {happening}")


@contract_events.register
def _(happening: ScheduleMoved) -> list[NamedEvent]:
    # As in the job itself: a running job has no next time yet.
    due = happening.next_due if happening.state in ("pending", "scheduled") else None
    details = JobStatusDetails(happening.error, optional_rfc3339(due))
    event = JobStatusEvent(
        job_id=happening.uid,
        status=SCHEDULE_WORDS[happening.state],
        timestamp=rfc3339(happening.at),
        details=None if details == JobStatusDetails() else details,
    )
    return [("job:status", event)]


@contract_events.register
def _(happening: RunAdvanced) -> list[NamedEvent]:
    event = JobProgressEvent(
        job_id=happening.schedule,
        execution_id=happening.uid,
        items_found=happening.pages,
        items_indexed=happening.items,
        timestamp=rfc3339(happening.at),
    )
    return [("job:progress", event)]


@contract_events.register
def _(happening: RunEnded) -> list[NamedEvent]:
    event = JobCompletedEvent(
        job_id=happening.schedule,
        execution_id=happening.uid,
        status=RUN_WORDS[happening.state],
        duration_ms=happening.duration_ms,
        items_indexed=happening.items,
        timestamp=rfc3339(happening.at),
        error_message=happening.error or None,
    )
    return [("job:completed", event)]


@contract_events.register
def _(happening: EngineHealth) -> list[NamedEvent]:
    event = HealthEvent(
        service=happening.name,
        status=happening.status,
        latency=happening.latency_ms,
        timestamp=rfc3339(happening.at),
        details=happening.detail or None,
    )
    return [("health:status", event)]


@contract_events.register
def _(happening: Counted) -> list[NamedEvent]:
    at = rfc3339(happening.at)
    events: list[NamedEvent] = [("metrics:update", MetricEvent(happening.name, happening.value, at))]
    if happening.name in STAGES:
        events.append(("pipeline:stage", StageEvent(STAGES[happening.name], happening.value, at)))
    return events
