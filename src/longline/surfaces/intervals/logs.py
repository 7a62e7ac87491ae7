"""`/api/v1/jobs/:id/logs`: logs of executions, as lists, files and streams."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.errors import NotFound
from longline.model.logs.run_log import LogEntry, LoggedRun, LogMark, log_line, mark_after_run, parse_mark
from longline.model.states import RUN_ENDED
from longline.model.whole_number import whole_number
from longline.services.logs.event_streams import ClientLimit
from longline.services.logs.run_logs import Ended, Followers, KeptElsewhere, LogLines, NoRuns, RunLogs, Step
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import (
    EXECUTION_NOT_FOUND,
    INVALID_JOB_ID,
    JOB_NOT_FOUND,
    LOG_ELSEWHERE,
    NO_EXECUTIONS,
    NO_LATEST_LOG,
    NO_RESUMABLE_STREAMING,
    NO_STREAMING,
    NO_SUCH_LOG,
    TOO_MANY_CONNECTIONS,
    log_elsewhere,
)
from longline.surfaces.intervals.event_streams import EVENT_STREAM
from longline.surfaces.intervals.field_types import CheckedJobId, PageQuery, Timestamp, optional_rfc3339
from longline.surfaces.intervals.jobs.job_statuses import RUN_WORDS, ExecutionStatus
from longline.surfaces.operation import ApiError, ApiFailure, ApiResponse, Content, operation
from longline.surfaces.sse import HEARTBEAT_INTERVAL_SECONDS, EventStream, frame

MAX_LOGS = 100
LATEST = "latest"

ARCHIVE_ERRORS = (INVALID_JOB_ID, NO_EXECUTIONS, NO_LATEST_LOG, NO_SUCH_LOG, LOG_ELSEWHERE)
STREAM_ERRORS = (INVALID_JOB_ID, JOB_NOT_FOUND, EXECUTION_NOT_FOUND, TOO_MANY_CONNECTIONS)


@dataclass(frozen=True, slots=True)
class LogServices:
    """The logs of runs and their followers. With `is_streaming` false no log can be streamed."""

    logs: RunLogs
    followers: Followers
    client_limit: ClientLimit
    is_streaming: bool = True
    heartbeat_seconds: float = HEARTBEAT_INTERVAL_SECONDS


class LogListQuery(PageQuery, frozen=True, kw_only=True):
    """One page of a list of logs."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LOGS, description="Entries of the page.")] = 50


class ArchiveQuery(msgspec.Struct, frozen=True):
    """The execution with the wanted log."""

    execution: Annotated[
        str,
        Meta(
            description="The number of an execution, or `latest`.",
            extra_json_schema={"pattern": "^(latest|[1-9][0-9]*)$"},
        ),
    ] = LATEST

    def number(self) -> int | None:
        """Return the number of the execution: None for the latest, 0 (never used) for text that is no number."""
        if self.execution == LATEST:
            return None
        return whole_number(self.execution) or 0


class StreamQuery(msgspec.Struct, frozen=True):
    """The execution to follow; without one, the running execution or the next."""

    execution_id: Annotated[str, Meta(description="Id of an execution.")] | None = None


class ResumeQuery(StreamQuery, frozen=True):
    """The position after which a stream resumes, for clients that cannot set headers."""

    last_event_id: Annotated[str, Meta(description="The id of the last event that was received.")] | None = None


class ResumeHeaders(msgspec.Struct, frozen=True):
    """The position after which a stream resumes."""

    last_event_id: Annotated[str, Meta(description="The id of the last event that was received.")] | None = (
        msgspec.field(default=None, name="Last-Event-ID")
    )


class LoggedExecutionBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """An execution; the fields of its archived log are left out until there is one."""

    execution_id: str
    execution_number: int
    status: ExecutionStatus
    started_at: Timestamp | None
    completed_at: Timestamp | None
    log_available: bool
    log_object_key: str | None = None
    log_size_bytes: int | None = None
    log_line_count: int | None = None


class LogListBody(msgspec.Struct, frozen=True):
    """One page of the executions of a job with their logs, newest first."""

    job_id: str
    executions: list[LoggedExecutionBody]
    has_live_logs: Annotated[bool, Meta(description="Whether the newest execution is running and logged.")]
    stream_v2_available: bool
    limit: int
    offset: int


class LogViewBody(msgspec.Struct, frozen=True):
    """An archived log, line by line; a line that is not a JSON object has a `message` and the `level` info."""

    job_id: str
    execution_number: int
    lines: list[dict[str, Any]]
    line_count: int


class StreamConnectedEvent(msgspec.Struct, frozen=True):
    """The first event of a stream of log lines."""

    message: str
    job_id: str


class LogReplayEvent(msgspec.Struct, frozen=True):
    """The newest lines before the stream began, oldest first."""

    lines: list[dict[str, Any]]
    count: int


class LogArchivedEvent(msgspec.Struct, frozen=True):
    """The log of an execution is complete and archived."""

    job_id: str
    execution_id: str
    execution_number: int
    object_key: str | None
    size_bytes: int | None
    line_count: int | None
    timestamp: Timestamp | None


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/logs",
    "List the logs of a job's executions",
    errors=(INVALID_JOB_ID,),
    response_example=examples.EXECUTION_LOGS,
)
async def list_logs(services: LogServices, job_id: CheckedJobId, query: LogListQuery) -> LogListBody:
    logs = services.logs
    runs = await logs.runs(job_id, query.limit, query.offset)
    newest = runs if query.offset == 0 else await logs.runs(job_id, 1, 0)
    return LogListBody(
        job_id=job_id,
        executions=[_execution(run) for run in runs],
        # A live run is logged from its start, even if it has no entry yet.
        has_live_logs=logs.on and bool(newest) and newest[0].state not in RUN_ENDED,
        stream_v2_available=services.is_streaming and logs.on,
        limit=query.limit,
        offset=query.offset,
    )


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/logs/download",
    "Download the archived log of an execution",
    answers={200: Content("application/gzip", headers={"Content-Disposition": "The name of the file."})},
    errors=ARCHIVE_ERRORS,
)
async def download_log(services: LogServices, job_id: CheckedJobId, query: ArchiveQuery) -> ApiResponse[Content]:
    """The log is a gzip file of JSON lines."""
    try:
        run, data = await services.logs.archive(job_id, query.number())
    except (NotFound, KeptElsewhere) as missing:
        raise ApiFailure(_archive_error(query, missing)) from None
    name = f"job-{job_id}-exec-{run.number}.log.gz"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return ApiResponse(Content("application/gzip", data), 200, headers)


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/logs/view",
    "Return the lines of the archived log of an execution",
    errors=ARCHIVE_ERRORS,
    response_example=examples.LOG_VIEW,
)
async def view_log(services: LogServices, job_id: CheckedJobId, query: ArchiveQuery) -> LogViewBody:
    try:
        run, lines = await services.logs.lines(job_id, query.number())
    except (NotFound, KeptElsewhere) as missing:
        raise ApiFailure(_archive_error(query, missing)) from None
    return LogViewBody(job_id, run.number, [_parsed(line) for line in lines], len(lines))


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/logs/stream",
    "Stream a job's log",
    access="stream",
    answers={200: EVENT_STREAM},
    errors=(*STREAM_ERRORS, NO_STREAMING),
)
async def stream_log(services: LogServices, job_id: CheckedJobId, query: StreamQuery) -> EventStream:
    """Events: `connected`, `log:replay`, `log:line` and `log:archived`, from execution to execution."""
    if not (services.is_streaming and services.logs.on):
        raise ApiFailure(NO_STREAMING)
    await services.logs.check(job_id, query.execution_id)
    # A client without marks would receive everything again on reconnect, so its stream continues from run to run.
    steps = services.followers.follow(job_id, query.execution_id, None, endless=True)
    return _log_stream(services, job_id, steps, is_marked=False)


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/logs/stream/v2",
    "Stream a job's log so that clients can resume",
    access="stream",
    answers={200: EVENT_STREAM, 204: None},
    errors=(*STREAM_ERRORS, NO_RESUMABLE_STREAMING),
)
async def stream_log_v2(
    services: LogServices, job_id: CheckedJobId, query: ResumeQuery, headers: ResumeHeaders
) -> EventStream | ApiResponse[None]:
    """Events: `connected`, `log:replay`, `log:line` and `log:archived`, with which the stream of an execution ends.

    A client that has received all events of its execution gets a 204.
    """
    if not (services.is_streaming and services.logs.on):
        raise ApiFailure(NO_RESUMABLE_STREAMING)
    run = await services.logs.check(job_id, query.execution_id)
    mark = parse_mark(headers.last_event_id or query.last_event_id)
    if query.execution_id and run and mark == mark_after_run(run.run_id):
        # A browser reconnects to an ended stream until it receives a 204.
        return ApiResponse(None, 204)
    steps = services.followers.follow(job_id, query.execution_id, mark, endless=False)
    return _log_stream(services, job_id, steps, is_marked=True)


LOGS = (list_logs, download_log, view_log, stream_log, stream_log_v2)


def _log_stream(services: LogServices, job_id: str, steps: AsyncGenerator[Step], *, is_marked: bool) -> EventStream:
    if not services.client_limit.take():
        raise ApiFailure(TOO_MANY_CONNECTIONS)
    frames = _frames(job_id, steps, is_marked=is_marked)
    return EventStream(frames, services.client_limit.release, heartbeat=services.heartbeat_seconds)


async def _frames(job_id: str, steps: AsyncGenerator[Step], *, is_marked: bool) -> AsyncGenerator[bytes]:
    async with aclosing(steps):
        yield frame("connected", StreamConnectedEvent("Connected to log stream", job_id))
        async for step in steps:
            if isinstance(step, Ended):
                if step.run.key is not None:
                    mark = mark_after_run(step.run.run_id) if is_marked else None
                    yield frame("log:archived", _archived(job_id, step.run), mark)
            elif step.replayed:
                yield _replay(job_id, step, is_marked=is_marked)
            else:
                yield b"".join(_line(job_id, entry, uid, is_marked=is_marked) for entry, uid in step.entries)


def _replay(job_id: str, step: LogLines, *, is_marked: bool) -> bytes:
    lines = [_event_line(entry, job_id, uid) for entry, uid in step.entries]
    mark = _mark(step.entries[-1][0]) if is_marked and step.entries else None
    return frame("log:replay", LogReplayEvent(lines, len(lines)), mark)


def _line(job_id: str, entry: LogEntry, uid: str, *, is_marked: bool) -> bytes:
    return frame("log:line", _event_line(entry, job_id, uid), _mark(entry) if is_marked else None)


def _mark(entry: LogEntry) -> LogMark:
    return LogMark(entry.run_id, entry.number)


def _event_line(entry: LogEntry, job_id: str, uid: str) -> dict[str, Any]:
    """Return a log line as archived, without the version of the archive's format."""
    line = log_line(entry, job_id, uid)
    del line["schema_version"]
    return line


def _archived(job_id: str, run: LoggedRun) -> LogArchivedEvent:
    return LogArchivedEvent(
        job_id=job_id,
        execution_id=run.uid,
        execution_number=run.number,
        object_key=run.key,
        size_bytes=run.bytes,
        line_count=run.kept,
        timestamp=optional_rfc3339(run.archived_at),
    )


def _execution(run: LoggedRun) -> LoggedExecutionBody:
    is_archived = run.key is not None
    return LoggedExecutionBody(
        execution_id=run.uid,
        execution_number=run.number,
        status=RUN_WORDS[run.state],
        started_at=optional_rfc3339(run.started_at),
        completed_at=optional_rfc3339(run.ended_at),
        log_available=is_archived,
        log_object_key=run.key,
        log_size_bytes=run.bytes if is_archived else None,
        log_line_count=run.kept if is_archived else None,
    )


def _archive_error(query: ArchiveQuery, missing: NotFound | KeptElsewhere) -> ApiError:
    if isinstance(missing, KeptElsewhere):
        # A proxy in front of several instances tries the next instance after a 503.
        return log_elsewhere(missing.number)
    if isinstance(missing, NoRuns):
        return NO_EXECUTIONS
    return NO_LATEST_LOG if query.number() is None else NO_SUCH_LOG


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(line)
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, dict) else {"message": line.decode(errors="replace"), "level": "info"}
