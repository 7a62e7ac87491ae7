"""`/api/v1/admin/batch`: batch jobs, their run records and their cron expressions."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.callers.caller import Caller
from longline.model.errors import Conflict, NotFound
from longline.model.maintenance.maintenance_run import MaintenanceRunRow, MaintenanceSchedule, MaintenanceState
from longline.services.maintenance import Maintenance, TaskOverview
from longline.surfaces.catalogue import examples
from longline.surfaces.catalogue import statuses_and_errors as words
from longline.surfaces.catalogue.field_types import NO_NUL, AuditedOrder, Timestamp, optional_time, time_text
from longline.surfaces.catalogue.statuses_and_errors import BATCH_KEYS, TASK_KEYS, JobStatus
from longline.surfaces.operation import ApiFailure, operation

JobKey = Annotated[str, Meta(pattern=NO_NUL, max_length=100, description="Key of a batch job.")]
IsOn = Annotated[bool, Meta(description="Whether the batch job starts by itself.")]
CronText = Annotated[str, Meta(pattern=NO_NUL, max_length=200, description="A cron expression of five fields, in UTC.")]

META_NAMES = {"log months": "partitionsCreated", "log archive": "partitionsArchived"}
"""The contract's name for the months of logs that a task made, or deleted."""

_STATES: dict[str, JobStatus] = {
    MaintenanceState.QUEUED: "queued",
    MaintenanceState.RUNNING: "running",
    MaintenanceState.COMPLETED: "done",
    MaintenanceState.FAILED: "failed",
    MaintenanceState.CANCELLED: "cancelled",
}


@dataclass(frozen=True, slots=True)
class CatalogueBatchServices:
    """The maintenance tasks behind batch jobs."""

    maintenance: Maintenance


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


class BatchScheduleChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of the times of one batch job: absent fields keep their values."""

    jobkey: JobKey
    cron: CronText | UnsetType = UNSET
    isenabled: IsOn | UnsetType = UNSET


@operation("GET", "/api/v1/admin/batch/jobs", "List batch jobs", access="admin", response_example=[examples.BATCH_JOB])
async def list_batch_jobs(services: CatalogueBatchServices) -> list[BatchJob]:
    return [_job(task) for task in await services.maintenance.tasks() if task.key in TASK_KEYS]


@operation(
    "POST",
    "/api/v1/admin/batch/jobs/{job_key}/run",
    "Run a batch job",
    status=202,
    access="admin",
    errors=[words.UNKNOWN_JOB_KEY, words.ALREADY_RUNNING],
    action="maintenance run.create",
    request_example={"reason": "before the first of the month"},
    response_example=examples.BATCH_RUN,
)
async def run_batch_job(
    services: CatalogueBatchServices,
    job_key: JobKey,
    body: AuditedOrder,  # noqa: ARG001 - its reason is audited
    identity: Caller,
) -> BatchRun:
    try:
        return _run(await services.maintenance.order(_task(job_key), identity))
    except Conflict:
        raise ApiFailure(words.ALREADY_RUNNING) from None


@operation(
    "POST",
    "/api/v1/admin/batch/jobs/{job_key}/cancel",
    "Cancel a batch job",
    access="admin",
    errors=[words.UNKNOWN_JOB_KEY, words.NOT_RUNNING],
    action="maintenance run.cancel",
    request_example={"reason": "it takes too long"},
    response_example=examples.BATCH_RUN,
)
async def cancel_batch_job(services: CatalogueBatchServices, job_key: JobKey, body: AuditedOrder) -> BatchRun:  # noqa: ARG001 - its reason is audited
    try:
        return _run(await services.maintenance.cancel(_task(job_key)))
    except Conflict:
        raise ApiFailure(words.NOT_RUNNING) from None


@operation(
    "POST",
    "/api/v1/admin/batch/crawler/partitions",
    "Create the partition of the next month of logs",
    status=202,
    access="admin",
    errors=[words.ALREADY_RUNNING],
    action="maintenance run.create",
    request_example={"reason": "before the first of the month"},
    response_example=examples.BATCH_RUN,
)
async def create_partitions(services: CatalogueBatchServices, body: AuditedOrder, identity: Caller) -> BatchRun:  # noqa: ARG001 - its reason is audited
    try:
        return _run(await services.maintenance.run_now(BATCH_KEYS["crawler.partition"], identity))
    except Conflict:
        raise ApiFailure(words.ALREADY_RUNNING) from None


@operation(
    "GET",
    "/api/v1/admin/batch/schedule",
    "List the times of batch jobs",
    access="admin",
    response_example=[examples.BATCH_SCHEDULE],
)
async def get_batch_schedule(services: CatalogueBatchServices) -> list[BatchSchedule]:
    return [_schedule(task.schedule) for task in await services.maintenance.tasks() if task.key in TASK_KEYS]


@operation(
    "PATCH",
    "/api/v1/admin/batch/schedule",
    "Change the times of a batch job",
    access="admin",
    errors=[words.INVALID_CRON, words.UNKNOWN_JOB_KEY],
    action="maintenance schedule.update",
    request_example={"jobkey": "crawler.partition", "cron": "35 0 1 * *"},
    response_example=examples.BATCH_SCHEDULE,
)
async def change_batch_schedule(services: CatalogueBatchServices, body: BatchScheduleChanges) -> BatchSchedule:
    cron = None if body.cron is UNSET else body.cron
    enabled = None if body.isenabled is UNSET else body.isenabled
    return _schedule(await services.maintenance.reschedule(_task(body.jobkey), cron, enabled))


BATCH_OPERATIONS = (
    list_batch_jobs,
    run_batch_job,
    cancel_batch_job,
    create_partitions,
    get_batch_schedule,
    change_batch_schedule,
)


def _task(job_key: str) -> str:
    """Return the maintenance task of a batch job."""
    if job_key not in BATCH_KEYS:
        raise NotFound("maintenance task", job_key)
    return BATCH_KEYS[job_key]


def _run(row: MaintenanceRunRow) -> BatchRun:
    facts = msgspec.json.decode(row.facts)
    took = None if row.started_at is None or row.ended_at is None else row.ended_at - row.started_at
    return BatchRun(
        row.id,
        TASK_KEYS[row.task],
        _STATES[row.state],
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


def _schedule(row: MaintenanceSchedule) -> BatchSchedule:
    return BatchSchedule(TASK_KEYS[row.task], row.cron, row.enabled, time_text(row.next_at) if row.enabled else None)


def _job(task: TaskOverview) -> BatchJob:
    times = _schedule(task.schedule)
    last = None if task.last is None else _run(task.last)
    return BatchJob(
        times.jobkey,
        task.purpose,
        times.cron,
        times.isenabled,
        times.nextrunat,
        last is not None and last.status in ("queued", "running"),
        last,
    )
