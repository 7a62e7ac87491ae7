"""Responses about jobs, and their making from schedules."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.schedules.schedule import ScheduleRow, Unit
from longline.model.states import ScheduleState
from longline.model.urls.url_credentials import without_credentials
from longline.surfaces.intervals.field_types import Timestamp, optional_rfc3339, rfc3339
from longline.surfaces.intervals.jobs.job_statuses import SCHEDULE_WORDS, JobStatus
from longline.surfaces.intervals.jobs.lock_tokens import lock_token

JobType = Literal["crawl"]


class JobBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job; fields without a value are left out."""

    id: str
    source_id: str
    source_name: str | None = None
    url: str
    type: JobType
    status: JobStatus
    interval_minutes: int | None = None
    interval_type: Unit
    schedule_enabled: bool
    schedule_time: str | None = None
    adaptive_scheduling: bool
    next_run_at: Timestamp | None = None
    is_paused: bool
    paused_at: Timestamp | None = None
    cancelled_at: Timestamp | None = None
    max_retries: int
    retry_backoff_seconds: int
    current_retry_count: int
    lock_token: Annotated[str, Meta(extra_json_schema={"format": "uuid"})] | None = None
    lock_acquired_at: Timestamp | None = None
    metadata: dict[str, Any]
    created_at: Timestamp
    updated_at: Timestamp
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    error_message: str | None = None
    scheduler_version: Literal[1]
    auto_managed: bool
    priority: int
    failure_count: int
    last_failure_at: Timestamp | None = None
    backoff_until: Timestamp | None = None


def job_body(row: ScheduleRow, lease_ms: int) -> JobBody:
    """Return a job in the contract's format."""
    held = row.owner is not None and row.lease_until is not None  # a run that waits for adoption has no lock
    return JobBody(
        id=row.uid,
        source_id=row.source_ref,
        source_name=row.source_name,
        url=without_credentials(row.url),
        type="crawl",  # other kinds of schedules are not shown here
        status=SCHEDULE_WORDS[row.state],
        interval_minutes=row.every,
        interval_type=row.unit,
        schedule_enabled=row.enabled,
        schedule_time=row.written_time,
        adaptive_scheduling=row.adaptive,
        next_run_at=next_run_at(row),
        is_paused=row.state == ScheduleState.PAUSED,
        paused_at=optional_rfc3339(row.paused_at),
        cancelled_at=optional_rfc3339(row.cancelled_at),
        max_retries=row.max_retries,
        retry_backoff_seconds=row.backoff_seconds,
        current_retry_count=row.retries,
        lock_token=lock_token(row) if held else None,
        lock_acquired_at=rfc3339((row.lease_until or 0) - lease_ms) if held else None,
        metadata=msgspec.json.decode(row.metadata),
        created_at=rfc3339(row.created_at),
        updated_at=rfc3339(row.updated_at),
        started_at=optional_rfc3339(row.started_at),
        completed_at=optional_rfc3339(row.completed_at),
        error_message=row.error,
        scheduler_version=1,
        auto_managed=row.automatic,
        priority=row.priority,
        failure_count=row.failures,
        last_failure_at=optional_rfc3339(row.failed_at),
        backoff_until=optional_rfc3339(row.next_due) if row.retries and row.state == "scheduled" else None,
    )


def next_run_at(row: ScheduleRow) -> str | None:
    """Return the next run of a schedule that waits for one."""
    return optional_rfc3339(row.next_due) if row.state in ("pending", "scheduled") else None
