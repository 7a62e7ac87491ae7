"""`/api/v1/admin/crawler/jobs/{id}/logs`: the logs of jobs, in the words of the contract."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.ids import entry_uuid
from longline.model.logs.run_log import LogEntry, LogQuery
from longline.model.series.series_run import SeriesRunRow
from longline.model.states import RunState
from longline.model.timestamps import written_us
from longline.services.logs.log_pages import LogPages
from longline.services.series.series_runs import SeriesRuns
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.envelope import CursorListed, CursorMeta
from longline.surfaces.catalogue.field_types import JobId, Timestamp, ZonedTime
from longline.surfaces.catalogue.jobs import job_statuses
from longline.surfaces.operation import operation

Level = Literal["debug", "info", "warn", "error"]
Facts = dict[str, Any]

META: Mapping[str, str] = {
    "status": "httpstatus",
    "retry_after": "retryafter",
    "numbers": "chapternumbers",
    "pages": "pagescount",
    "errors": "errorcount",
    "items": "itemscount",
    "duration_ms": "durationms",
    "fetch_ms": "durationms",
    "attempt": "retrycount",
    "queue_depth": "queuedepth",
}
"""The contract's names of facts; other names are the same without underscores."""

_OUTCOMES = {"completed": "Job completed successfully", "cancelled": "Job has stopped"}


@dataclass(frozen=True, slots=True)
class CatalogueLogServices:
    """Jobs, and the pages of their logs."""

    runs: SeriesRuns
    logs: LogPages


class LogLine(msgspec.Struct, frozen=True):
    """A line of the log of a job."""

    id: str
    jobid: str
    level: Level
    message: str
    meta: dict[str, Any] | None
    createdat: Timestamp


class CatalogueLogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of log lines."""

    level: Annotated[Level, Meta(description="The level of the lines.")] | None = None
    since: Annotated[ZonedTime, Meta(description="The time behind which the lines begin.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="Largest number of lines.")] = 100


@operation(
    "GET",
    "/api/v1/admin/crawler/jobs/{id}/logs",
    "Read the log of a job",
    access="admin",
    errors=[errors.NO_JOB],
    response_example=examples.LOGS,
)
async def get_job_logs(services: CatalogueLogServices, id: JobId, query: CatalogueLogQuery) -> CursorListed[LogLine]:
    job = await services.runs.get(id.lower())
    page = await services.logs.get(job.run.id, LogQuery(level=query.level, since_us=query.since), query.limit)
    lines = [_line(entry, job) for entry in page.entries]
    cursor = lines[-1].createdat if lines else None if query.since is None else query.since.sent
    return CursorListed(lines, CursorMeta(page.total, cursor))


LOG_OPERATIONS = (get_job_logs,)


def _line(entry: LogEntry, job: SeriesRunRow) -> LogLine:
    level: Any = entry.level
    facts: Facts = {} if entry.fields is None else msgspec.json.decode(entry.fields)
    say = TEXTS.get(entry.message)
    message = entry.message if say is None else say(facts, job)
    meta = {_name(name, value): _value(name, value) for name, value in facts.items()}
    number = entry_uuid(entry.run_id, entry.number, entry.at_us)
    return LogLine(number, job.run.uid, level, message, meta or None, written_us(entry.at_us))


def _name(name: str, value: Any) -> str:
    """Return the contract's name of a fact; the status of a job is no status of HTTP."""
    if name == "status" and not isinstance(value, int):
        return name
    return META.get(name, name.replace("_", ""))


def _value(name: str, value: Any) -> Any:
    if name == "attempt":
        return value - 1  # the first attempt is no retry
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _started(facts: Facts, job: SeriesRunRow) -> str:
    facts["sourceid"] = job.run.source_id
    if job.series_id is None:
        return f"Starting discovery crawl for source {job.run.source_id}"
    facts["comicid"] = job.series_id
    return f"Starting targeted crawl for comic {job.series_id}"


def _found_chapters(facts: Facts, job: SeriesRunRow) -> str:
    facts["numbers"] = [_number(each) for each in facts.get("numbers", ())]
    return _found("chapter")(facts, job)


def _number(text: Any) -> Any:
    """Return the number of a chapter; a text that is none stays as it is."""
    try:
        number = float(text)
    except (TypeError, ValueError):
        return text
    return int(number) if number.is_integer() else number if isfinite(number) else text


def _found(noun: str) -> Callable[[Facts, SeriesRunRow], str]:
    return lambda facts, _: f"Found {facts['count']} new {noun}{'' if facts['count'] == 1 else 's'}"


def _tried(facts: Facts, _: SeriesRunRow) -> str:
    if "retry_after" in facts:
        return f"Rate limit hit — retrying after {facts['retry_after']:g}s"
    return f"Failed to fetch {facts.get('url')}, trying again: {_why(facts)}"


def _failed(facts: Facts, _: SeriesRunRow) -> str:
    return f"Failed to fetch {facts.get('url')}: {_why(facts)}"


def _why(facts: Facts) -> str:
    return str(facts.get("error") or facts.get("reason") or "unknown error")


def _refused(facts: Facts, _: SeriesRunRow) -> str:
    return f"Job cannot start: {_why(facts)}"


def _ordered(facts: Facts, _: SeriesRunRow) -> str:
    return f"Job cancelled: {facts['reason']}" if facts.get("reason") else "Job cancelled"


def _ended(facts: Facts, _: SeriesRunRow) -> str:
    status = str(facts.get("status"))
    facts["status"] = job_statuses.RUN_WORDS[RunState(status)]
    return _OUTCOMES.get(status, f"Job failed: {_why(facts)}")


TEXTS: Mapping[str, Callable[[Facts, SeriesRunRow], str]] = {
    "due run refused": _refused,
    "run started": _started,
    "new series found": _found("comic"),
    "new chapters found": _found_chapters,
    "page will be tried again": _tried,
    "page failed": _failed,
    "cancellation ordered": _ordered,
    "run completed": _ended,
    "run failed": _ended,
    "run cancelled": _ended,
}
"""The contract's text for each entry that it names; other entries keep theirs."""
