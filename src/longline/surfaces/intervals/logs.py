"""`/api/v1/jobs/:id/logs`: logs of executions, as lists, files and streams."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.types import Guard

from longline.model.errors import BadInput, NotFound
from longline.model.logs import LogEntry, LoggedRun, LogMark, behind, mark_of, told
from longline.model.states import RUN_ENDED
from longline.services.logs.event_streams import ClientLimit
from longline.services.logs.run_logs import Ended, Followers, KeptElsewhere, LogLines, NoRuns, RunLogs, Step
from longline.surfaces.http import answer
from longline.surfaces.intervals.paging import asked, page
from longline.surfaces.intervals.times import rfc3339
from longline.surfaces.intervals.words import RUN_WORDS
from longline.surfaces.sse import HEARTBEAT, EventStream, frame

MOST_LOGS = 100
Body = Response[dict[str, Any]]
Ask = Request[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class LogParts:
    """Dependencies of these routes. Without `streams` no log can be streamed."""

    logs: RunLogs
    followers: Followers
    seats: ClientLimit
    streams: bool = True
    heartbeat: float = HEARTBEAT


def log_routes(parts: LogParts, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    """Return the handlers."""
    logs = parts.logs

    @get("/api/v1/jobs/{job_id:str}/logs", guards=guards, summary="Logs of a job's executions")
    async def list_logs(request: Ask, job_id: FromPath[str]) -> Body:
        limit, offset = page(request, most=MOST_LOGS)
        runs = await logs.runs(_known(job_id), limit, offset)
        newest = runs if offset == 0 else await logs.runs(job_id, 1, 0)
        body = {
            "job_id": job_id,
            "executions": [_execution(run) for run in runs],
            # A live run is logged from its start, even if it has no entry yet.
            "has_live_logs": logs.on and bool(newest) and newest[0].state not in RUN_ENDED,
            "stream_v2_available": parts.streams and logs.on,
            "limit": limit,
            "offset": offset,
        }
        return Response(body)

    @get("/api/v1/jobs/{job_id:str}/logs/download", guards=guards, summary="The archived log of an execution")
    async def download_log(request: Ask, job_id: FromPath[str]) -> Response[Any]:
        try:
            run, data = await logs.archive(_known(job_id), _number(request))
        except (NotFound, KeptElsewhere) as error:
            return _missing(request, error)
        name = f"job-{job_id}-exec-{run.number}.log.gz"
        shown = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type="application/gzip", headers=shown)

    @get("/api/v1/jobs/{job_id:str}/logs/view", guards=guards, summary="The archived log of an execution, line by line")
    async def view_log(request: Ask, job_id: FromPath[str]) -> Response[Any]:
        try:
            run, lines = await logs.lines(_known(job_id), _number(request))
        except (NotFound, KeptElsewhere) as error:
            return _missing(request, error)
        parsed = [_parsed(line) for line in lines]
        body = {"job_id": job_id, "execution_number": run.number, "lines": parsed, "line_count": len(parsed)}
        return Response(body)

    @get("/api/v1/jobs/{job_id:str}/logs/stream", guards=guards, summary="A job's log as it is written")
    async def stream_log(request: Ask, job_id: FromPath[str]) -> Response[Any]:
        return await _stream(parts, request, job_id, resumes=False)

    @get("/api/v1/jobs/{job_id:str}/logs/stream/v2", guards=guards, summary="A job's log as it is written, resumable")
    async def stream_log_v2(request: Ask, job_id: FromPath[str]) -> Response[Any]:
        return await _stream(parts, request, job_id, resumes=True)

    return [list_logs, download_log, view_log, stream_log, stream_log_v2]


async def _stream(parts: LogParts, request: Ask, job_id: str, *, resumes: bool) -> Response[Any]:
    if not (parts.streams and parts.logs.on):
        return answer(503, "Redis streaming not available" if resumes else "Log streaming not available")
    uid = asked(request, "execution_id")
    try:
        run = await parts.logs.check(_known(job_id), uid)
    except NotFound:
        return answer(404, "Execution not found" if uid else "Job not found")
    # A client that cannot set headers sends its mark in the query.
    mark = mark_of(request.headers.get("last-event-id") or asked(request, "last_event_id")) if resumes else None
    if uid and run and mark == behind(run.run_id):
        # A browser reconnects to an ended stream until it receives a 204.
        return Response(None, status_code=204)
    if not parts.seats.take():
        return answer(503, "too many connections")
    # A client without marks would receive everything again on reconnect, so its stream continues from run to run.
    frames = _frames(job_id, parts.followers.follow(job_id, uid, mark, endless=not resumes), marked=resumes)
    return EventStream(frames, parts.seats.leave, heartbeat=parts.heartbeat)


async def _frames(job_id: str, steps: AsyncGenerator[Step], *, marked: bool) -> AsyncGenerator[bytes]:
    async with aclosing(steps):
        yield frame("connected", {"message": "Connected to log stream", "job_id": job_id})
        async for step in steps:
            if isinstance(step, Ended):
                if step.run.key is not None:
                    mark = behind(step.run.run_id) if marked else None
                    yield frame("log:archived", _archived(job_id, step.run), mark)
            elif step.replayed:
                yield _replay(job_id, step, marked=marked)
            else:
                yield b"".join(_line(job_id, entry, uid, marked=marked) for entry, uid in step.entries)


def _replay(job_id: str, step: LogLines, *, marked: bool) -> bytes:
    lines = [_told(entry, job_id, uid) for entry, uid in step.entries]
    mark = _mark(step.entries[-1][0]) if marked and step.entries else None
    return frame("log:replay", {"lines": lines, "count": len(lines)}, mark)


def _line(job_id: str, entry: LogEntry, uid: str, *, marked: bool) -> bytes:
    return frame("log:line", _told(entry, job_id, uid), _mark(entry) if marked else None)


def _mark(entry: LogEntry) -> LogMark:
    return LogMark(entry.run_id, entry.number)


def _told(entry: LogEntry, job_id: str, uid: str) -> dict[str, Any]:
    line = told(entry, job_id, uid)
    del line["schema_version"]
    return line


def _archived(job_id: str, run: LoggedRun) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "execution_id": run.uid,
        "execution_number": run.number,
        "object_key": run.key,
        "size_bytes": run.bytes,
        "line_count": run.kept,
        "timestamp": rfc3339(run.archived_at),
    }


def _execution(run: LoggedRun) -> dict[str, Any]:
    row = {
        "execution_id": run.uid,
        "execution_number": run.number,
        "status": RUN_WORDS[run.state],
        "started_at": rfc3339(run.started_at),
        "completed_at": rfc3339(run.ended_at),
        "log_available": run.key is not None,
    }
    kept = {"log_object_key": run.key, "log_size_bytes": run.bytes, "log_line_count": run.kept}
    return row | kept if run.key is not None else row


def _known(job_id: str) -> str:
    if job_id == "undefined":
        raise BadInput("Invalid job ID")
    return job_id


def _number(request: Ask) -> int | None:
    """Return the requested execution number: None for the latest, 0 (never used) for text that is no number."""
    text = asked(request, "execution") or "latest"
    if text == "latest":
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _missing(request: Ask, error: NotFound | KeptElsewhere) -> Response[dict[str, str]]:
    if isinstance(error, KeptElsewhere):
        # A proxy in front of several instances tries the next instance after a 503.
        return answer(503, str(error))
    if isinstance(error, NoRuns):
        return answer(404, "no executions found for job")
    latest = _number(request) is None
    return answer(404, "no logs archived for latest execution" if latest else "no logs found for specified execution")


def _parsed(line: bytes) -> Any:
    try:
        found = msgspec.json.decode(line)
    except msgspec.DecodeError:
        found = None
    return found if isinstance(found, dict) else {"message": line.decode(errors="replace"), "level": "info"}
