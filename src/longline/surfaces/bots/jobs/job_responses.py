"""Responses about jobs, and their making from rows of tasks."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.bots.bot_task import BotTaskRow
from longline.model.duration import MINUTE_MS
from longline.model.ids import task_uuid
from longline.model.states import TaskState
from longline.surfaces.bots.field_types import Time, Uri, Uuid, optional_time, time_text
from longline.surfaces.bots.job_statuses import JobStatus, shown_priority, word
from longline.surfaces.bots.jobs.result_responses import BotResult


class BotJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job; `policy_id` is null for a job without a policy."""

    id: Uuid
    policy_id: Uuid | None
    url: Uri
    status: JobStatus
    priority: int
    max_retries: int
    timeout_minutes: int
    lock_ttl_seconds: int
    locked_by: str | None
    locked_at: Time | None
    locked_until: Time | None
    retry_count: int
    last_error: str | None
    last_result_at: Time | None
    expiry_count: Annotated[int, Meta(description="Pulls of the job after a lock on it had expired.")]
    created_at: Time
    updated_at: Time


class JobPage(msgspec.Struct, frozen=True):
    """A page of jobs, newest first."""

    jobs: list[BotJob]
    count: int
    limit: int
    offset: int


class DeletedRow(msgspec.Struct, frozen=True):
    """The id of a deleted policy or job."""

    id: str
    deleted: Literal[True]


class ExpiredLocks(msgspec.Struct, frozen=True):
    """Counts of a pass over lapsed locks."""

    expired: int
    requeued: int
    failed: int


class RepairedJobs(msgspec.Struct, frozen=True):
    """The number of jobs that a repair changed."""

    changed: int


class BotJobDetail(BotJob, frozen=True, kw_only=True):
    """A job with its result."""

    result: BotResult | None


def job_of(row: BotTaskRow) -> BotJob:
    """Return a job with all its fields."""
    is_held = row.owner is not None
    return BotJob(
        id=task_uuid(row.id, row.created_at),
        policy_id=row.schedule_uid,
        url=row.url,
        status=word(row.state),
        priority=shown_priority(row.priority),
        max_retries=row.max_retries,
        timeout_minutes=row.lease_ms // MINUTE_MS,
        lock_ttl_seconds=(row.held_ms if is_held else row.lease_ms) // 1000,
        locked_by=row.holder,
        locked_at=optional_time(row.held_at) if is_held else None,
        locked_until=optional_time(row.due) if is_held else None,
        retry_count=row.retries,
        last_error=None if row.rest == TaskState.COMPLETED else row.error,
        last_result_at=optional_time(row.answered_at),
        expiry_count=row.lapses,
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
    )
