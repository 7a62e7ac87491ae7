"""Responses about batch jobs, and their making from maintenance tasks."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.maintenance.maintenance_run import MaintenanceRunRow, MaintenanceSchedule
from longline.services.maintenance import TaskOverview
from longline.surfaces.catalogue.field_types import Timestamp, optional_time, time_text
from longline.surfaces.catalogue.jobs.job_statuses import BATCH_WORDS, TASK_KEYS, JobStatus

META_NAMES = {"log months": "partitionsCreated", "log archive": "partitionsArchived"}
"""The contract's name for the months of logs that a task made, or deleted."""


class BatchRun(msgspec.Struct, frozen=True):
    """A run of a batch job."""

    id: str
    jobkey: str
    status: JobStatus
    triggeredby: Annotated[str, Meta(description="`admin`, or `scheduler` for a run by cron.")]
    triggeredbyuserid: str | None
    startedat: Timestamp | None
    finishedat: Timestamp | None
    durationms: int | None
    rowsaffected: int
    lasterror: str | None
    meta: dict[str, Any]
    createdat: Timestamp


class BatchSchedule(msgspec.Struct, frozen=True):
    """The times at which a batch job starts by itself."""

    jobkey: str
    cron: str
    isenabled: bool
    nextrunat: Timestamp | None


class BatchJob(msgspec.Struct, frozen=True):
    """A batch job, with its times and its newest run."""

    jobkey: str
    description: str
    cron: str
    isenabled: bool
    nextrunat: Timestamp | None
    isrunning: bool
    lastrun: BatchRun | None


def shown_run(row: MaintenanceRunRow) -> BatchRun:
    """Return a run of a batch job."""
    facts = msgspec.json.decode(row.facts)
    took = None if row.started_at is None or row.ended_at is None else row.ended_at - row.started_at
    return BatchRun(
        row.id,
        TASK_KEYS[row.task],
        BATCH_WORDS[row.state],
        "scheduler" if row.caller_id is None else "admin",
        row.caller_id,
        optional_time(row.started_at),
        optional_time(row.ended_at),
        took,
        row.rows_changed,
        row.error,
        {META_NAMES[row.task]: facts["months"]} if "months" in facts else facts,
        time_text(row.created_at),
    )


def shown_schedule(row: MaintenanceSchedule) -> BatchSchedule:
    """Return the times of a batch job."""
    return BatchSchedule(TASK_KEYS[row.task], row.cron, row.enabled, time_text(row.next_at) if row.enabled else None)


def shown_batch_job(task: TaskOverview) -> BatchJob:
    """Return a batch job with its last run."""
    times = shown_schedule(task.schedule)
    last = None if task.last is None else shown_run(task.last)
    return BatchJob(
        times.jobkey,
        task.purpose,
        times.cron,
        times.isenabled,
        times.nextrunat,
        last is not None and last.status in ("queued", "running"),
        last,
    )
