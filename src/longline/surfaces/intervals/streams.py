"""`/sse/{crawler,health,metrics}/events`: live event streams."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.types import Guard

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
from longline.surfaces.http import answer
from longline.surfaces.intervals.asking import present
from longline.surfaces.intervals.times import rfc3339
from longline.surfaces.intervals.words import RUN_WORDS, SCHEDULE_WORDS
from longline.surfaces.sse import HEARTBEAT, EventStream, frame

STREAMS: tuple[Stream, ...] = ("crawler", "health", "metrics")

STAGES = {"tasks_completed": "crawled"}
"""Figures that are also a stage of the pipeline; later stages belong to other services."""


@dataclass(frozen=True, slots=True)
class StreamParts:
    """Dependencies of these routes; `now` returns UTC milliseconds, and `attend` starts the publishing of moves."""

    broker: Broker
    seats: ClientLimit
    now: Any
    attend: Callable[[], Awaitable[object]]
    heartbeat: float = HEARTBEAT


def stream_routes(parts: StreamParts, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    """Return the handlers, each at its own path and at its alias."""
    return [_route(parts, stream, guards) for stream in STREAMS]


def _route(parts: StreamParts, stream: Stream, guards: Sequence[Guard]) -> HTTPRouteHandler:
    @get([f"/sse/{stream}/events", f"/api/{stream}/events"], guards=guards, summary=f"The {stream} stream")
    async def follow() -> Response[Any]:
        if not parts.seats.take():
            return answer(503, "too many connections")
        client = parts.broker.join(stream)

        def leave() -> None:
            parts.broker.leave(stream, client)
            parts.seats.leave()

        return EventStream(_frames(parts, stream, client), leave, client.lost, heartbeat=parts.heartbeat)

    return follow


async def _frames(parts: StreamParts, stream: Stream, client: Subscription) -> AsyncGenerator[bytes]:
    if stream == "crawler":
        # Before the `connected` event: the client expects events of everything it does afterwards.
        await parts.attend()
    yield frame("connected", {"timestamp": rfc3339(parts.now()), "message": f"Connected to {stream} events"})
    async for happening in client:
        yield b"".join(frame(event, facts) for event, facts in shaped(happening))


@singledispatch
def shaped(happening: object) -> list[tuple[str, dict[str, Any]]]:
    """Return the one or two events of the contract for an internal event."""
    raise TypeError(f"there are no words for {happening}")


@shaped.register
def _(happening: ScheduleMoved) -> list[tuple[str, dict[str, Any]]]:
    facts: dict[str, Any] = {
        "job_id": happening.uid,
        "status": SCHEDULE_WORDS[happening.state],
        "timestamp": rfc3339(happening.at),
    }
    # As in the job itself: a running job has no next time yet.
    due = happening.next_due if happening.state in ("pending", "scheduled") else None
    details = present({"error_message": happening.error, "next_run_at": rfc3339(due)})
    if details:
        facts["details"] = details
    return [("job:status", facts)]


@shaped.register
def _(happening: RunAdvanced) -> list[tuple[str, dict[str, Any]]]:
    facts = {
        "job_id": happening.schedule,
        "execution_id": happening.uid,
        "items_found": happening.pages,
        "items_indexed": happening.items,
        "timestamp": rfc3339(happening.at),
    }
    return [("job:progress", facts)]


@shaped.register
def _(happening: RunEnded) -> list[tuple[str, dict[str, Any]]]:
    facts = {
        "job_id": happening.schedule,
        "execution_id": happening.uid,
        "status": RUN_WORDS[happening.state],
        "duration_ms": happening.duration_ms,
        "items_indexed": happening.items,
        "timestamp": rfc3339(happening.at),
    }
    return [("job:completed", facts | {"error_message": happening.error} if happening.error else facts)]


@shaped.register
def _(happening: EngineHealth) -> list[tuple[str, dict[str, Any]]]:
    facts: dict[str, Any] = {
        "service": happening.name,
        "status": happening.status,
        "latency": happening.latency_ms,
        "timestamp": rfc3339(happening.at),
    }
    return [("health:status", facts | {"details": happening.detail} if happening.detail else facts)]


@shaped.register
def _(happening: Counted) -> list[tuple[str, dict[str, Any]]]:
    at = rfc3339(happening.at)
    events = [("metrics:update", {"metric": happening.name, "value": happening.value, "timestamp": at})]
    if happening.name in STAGES:
        events.append(("pipeline:stage", {"stage": STAGES[happening.name], "count": happening.value, "timestamp": at}))
    return events
