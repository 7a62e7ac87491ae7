"""`/operators/jobs/{job_id}/logs`: the log of a job as server-sent events or JSON lines."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.manifests.manifest import ManifestSnapshot
from longline.services.manifests.logs import ManifestLogs
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.errors import invalid
from longline.surfaces.manifests.responses import JobId, LogEnvelope, log_envelope, status_of
from longline.surfaces.operation import ApiFailure, Content, operation
from longline.surfaces.sse import EVENTS, EventStream, frame

LINES = "application/x-ndjson"
DEFAULT_LIMIT, MAX_LIMIT = 1000, 100_000
MAX_OFFSET = 2**62

Write = Callable[[LogEnvelope], bytes]


@dataclass(frozen=True, slots=True)
class ManifestLogServices:
    """The snapshots and the logs of jobs."""

    snapshots: ManifestSnapshots
    logs: ManifestLogs


class ManifestLogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of lines."""

    since_offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET, description="First offset, inclusive.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="1000 unless the log is followed.")] | None = None
    follow: Annotated[bool, Meta(description="Keep the stream open until the job has ended.")] = False


class ManifestLogHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The form of the stream, and the offset of the last event that a client has."""

    accept: Annotated[str | None, Meta(description="`application/x-ndjson` for JSON lines.")] = msgspec.field(
        default=None, name="Accept"
    )
    last_event_id: Annotated[str | None, Meta(description="The offset of the last event.")] = msgspec.field(
        default=None, name="Last-Event-ID"
    )


@operation(
    "GET",
    "/operators/jobs/{job_id}/logs",
    "Read the log of a job",
    access="operator",
    answers={200: Content(EVENTS)},
    errors=(errors.NOT_FOUND,),
)
async def read_manifest_log(
    services: ManifestLogServices, job_id: JobId, query: ManifestLogQuery, headers: ManifestLogHeaders
) -> EventStream:
    """Send the lines of a job's log, as events or, with `Accept: application/x-ndjson`, as JSON lines."""
    found = await services.snapshots.get(job_id)
    since = _since(query, headers)
    limit = query.limit or (None if query.follow else DEFAULT_LIMIT)
    is_lines = LINES in (headers.accept or "").lower()
    frames = _frames(services, found, (since, limit), _line if is_lines else _event, follow=query.follow)
    return EventStream(frames, lambda: None, media_type=LINES if is_lines else EVENTS)


def _since(query: ManifestLogQuery, headers: ManifestLogHeaders) -> int:
    """Return the first offset: behind the last event of a client that returns, else the one that was asked for."""
    last = (headers.last_event_id or "").strip()
    if not last:
        return query.since_offset or 0
    if not last.isdecimal() or len(last) > 18:
        raise ApiFailure(invalid("Last-Event-ID must be an offset"))
    return int(last) + 1


async def _frames(
    services: ManifestLogServices,
    found: ManifestSnapshot,
    bounds: tuple[int, int | None],
    write: Write,
    *,
    follow: bool,
) -> AsyncGenerator[bytes]:
    async def is_open() -> bool:
        return status_of(await services.snapshots.get(found.uid)) in ("queued", "in_progress")

    async for line in services.logs.read(found, *bounds, is_open if follow else None):
        yield write(log_envelope(line.entry, found.uid, truncated=line.truncated))


def _event(envelope: LogEnvelope) -> bytes:
    return frame("log", envelope, envelope.offset)


def _line(envelope: LogEnvelope) -> bytes:
    return msgspec.json.encode(envelope) + b"\n"


LOGS = (read_manifest_log,)
