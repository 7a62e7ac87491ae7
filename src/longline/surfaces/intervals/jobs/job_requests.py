"""Requests and responses of jobs, and their conversion from and to schedules."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.errors import BadInput
from longline.model.schedules.schedule import MAX_INTERVAL_MS, UNITS, ScheduleSpec, Unit
from longline.surfaces.intervals.errors import INTERVAL_REQUIRED
from longline.surfaces.intervals.field_types import (
    MAX_NUMBER,
    Key,
    Text,
    WebUrl,
    absolute_url,
)
from longline.surfaces.intervals.jobs.job_responses import JobType

SourceId = Annotated[Key, Meta(description="Id of the source. The run of a job without one fails.")]
SourceName = Annotated[Text, Meta(description="Name of the source, for people.")]
Interval = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_NUMBER,
        description="Number of units of `interval_type` between two runs. A job without it runs once.",
        extra={"texts": {"minimum": "interval_minutes must be greater than 0"}},
    ),
]
Retries = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_NUMBER,
        description="Retries of a failed run, with a growing delay.",
        extra={"texts": {"minimum": "max_retries must not be negative"}},
    ),
]
BackoffSeconds = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_NUMBER,
        description="Delay before the first retry; it doubles with each retry, up to an hour.",
        extra={"texts": {"minimum": "retry_backoff_seconds must be greater than 0"}},
    ),
]
JobPriority = Annotated[
    int,
    Meta(
        ge=0,
        le=100,
        description="Stored and shown only; 100 is the highest.",
        extra={"texts": dict.fromkeys(("minimum", "maximum"), "priority must be between 0 and 100")},
    ),
]
IsEnabled = Annotated[bool, Meta(description="Whether the job recurs; it needs `interval_minutes`.")]
IsAdaptive = Annotated[bool, Meta(description="Whether the interval grows while the start page does not change.")]
CronText = Annotated[Text, Meta(description="Cron expression of older clients: stored, never used.")]
Metadata = Annotated[dict[str, Any], Meta(description="Any JSON object of the client.")]
_INVALID_TYPE = {"texts": {"choice": "Invalid job type: {value}"}}
_INVALID_STATUS = {"texts": {"choice": "Invalid job status: {value}"}}
_UNIT = "Unit of `interval_minutes`."
_INVALID_UNIT = {"texts": {"choice": "interval_type must be one of minutes, hours, days"}}


class JobRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A job to be created; null means the default."""

    source_id: SourceId | None = None
    source_name: SourceName | None = None
    url: Annotated[WebUrl, Meta(min_length=1)]
    interval_minutes: Interval | None = None
    interval_type: Annotated[Unit, Meta(description=_UNIT, extra=_INVALID_UNIT)] | None = "minutes"
    schedule_enabled: IsEnabled | None = False
    adaptive_scheduling: IsAdaptive | None = True
    max_retries: Retries | None = 3
    retry_backoff_seconds: BackoffSeconds | None = 60
    schedule_time: CronText | None = None
    type: Annotated[JobType, Meta(description="Kind of the job.", extra=_INVALID_TYPE)] | None = "crawl"
    priority: JobPriority | None = 50
    metadata: Metadata | None = None


class JobChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a job; fields that are absent, null or empty keep their values."""

    source_id: SourceId | None = None
    source_name: SourceName | None = None
    url: WebUrl | None = None
    interval_minutes: Annotated[Interval | None, Meta(description="Null makes the job run once.")] | UnsetType = UNSET
    interval_type: (
        Annotated[Literal["minutes", "hours", "days", ""], Meta(description=_UNIT, extra=_INVALID_UNIT)] | None
    ) = None
    schedule_enabled: IsEnabled | None = None
    adaptive_scheduling: IsAdaptive | None = None
    max_retries: Retries | None = None
    retry_backoff_seconds: BackoffSeconds | None = None
    schedule_time: CronText | None = None
    type: Annotated[Literal["crawl", ""], Meta(description="Kind of the job.", extra=_INVALID_TYPE)] | None = None
    priority: JobPriority | None = None
    metadata: Metadata | None = None
    status: (
        Annotated[
            Literal["pending", "scheduled", "running", "paused", "completed", "failed", "cancelled", ""],
            Meta(description="State to move the job to.", extra=_INVALID_STATUS),
        ]
        | None
    ) = None


_SPEC_FIELDS = {
    "source_id": "source_ref",
    "source_name": "source_name",
    "interval_minutes": "every",
    "interval_type": "unit",
    "schedule_enabled": "enabled",
    "adaptive_scheduling": "adaptive",
    "max_retries": "max_retries",
    "retry_backoff_seconds": "backoff_seconds",
    "schedule_time": "written_time",
    "type": "kind",
    "priority": "priority",
}
"""The contract's name and the internal name of each setting of a job."""


def new_spec(job: JobRequest) -> ScheduleSpec:
    """Return the settings of a new job; raise `BadInput` for settings that contradict each other."""
    return _checked(ScheduleSpec(url=absolute_url(job.url), **_settings(job)))


def changed_spec(spec: ScheduleSpec, changes: JobChanges) -> ScheduleSpec:
    """Return the settings of a changed job; raise `BadInput` for settings that contradict each other."""
    settings = {name: value for name, value in _settings(changes).items() if value != ""}
    if changes.url:
        settings["url"] = absolute_url(changes.url)
    if changes.interval_minutes is None:
        settings |= {"every": None, "enabled": changes.schedule_enabled or False}
    return _checked(msgspec.structs.replace(spec, **settings))


def _settings(sent: JobRequest | JobChanges) -> dict[str, Any]:
    values = {ours: getattr(sent, name) for name, ours in _SPEC_FIELDS.items()}
    if sent.metadata is not None:
        values["metadata"] = msgspec.json.encode(sent.metadata).decode()
    return {ours: value for ours, value in values.items() if value is not None and value is not UNSET}


def _checked(spec: ScheduleSpec) -> ScheduleSpec:
    if spec.enabled and spec.every is None:
        raise BadInput(INTERVAL_REQUIRED.body["error"])
    if spec.every is not None and spec.every * UNITS[spec.unit] > MAX_INTERVAL_MS:
        raise BadInput("interval_minutes must not be more than ten years")
    return spec
