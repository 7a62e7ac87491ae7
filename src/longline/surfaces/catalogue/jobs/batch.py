"""`/api/v1/admin/batch`: batch jobs, their run records and their cron expressions."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.callers.caller import Caller
from longline.model.errors import Conflict, NotFound
from longline.services.maintenance import Maintenance
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.field_types import NO_NUL, AuditedOrder
from longline.surfaces.catalogue.jobs.batch_responses import (
    BatchJob,
    BatchRun,
    BatchSchedule,
    shown_batch_job,
    shown_run,
    shown_schedule,
)
from longline.surfaces.catalogue.jobs.job_statuses import BATCH_KEYS, TASK_KEYS
from longline.surfaces.operation import ApiFailure, operation

JobKey = Annotated[str, Meta(pattern=NO_NUL, max_length=100, description="Key of a batch job.")]
IsOn = Annotated[bool, Meta(description="Whether the batch job starts by itself.")]
CronText = Annotated[str, Meta(pattern=NO_NUL, max_length=200, description="A cron expression of five fields, in UTC.")]


@dataclass(frozen=True, slots=True)
class CatalogueBatchServices:
    """The maintenance tasks behind batch jobs."""

    maintenance: Maintenance


class BatchScheduleChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of the times of one batch job: absent fields keep their values."""

    jobkey: JobKey
    cron: CronText | UnsetType = UNSET
    isenabled: IsOn | UnsetType = UNSET


@operation("GET", "/api/v1/admin/batch/jobs", "List batch jobs", access="admin", response_example=[examples.BATCH_JOB])
async def list_batch_jobs(services: CatalogueBatchServices) -> list[BatchJob]:
    return [shown_batch_job(task) for task in await services.maintenance.tasks() if task.key in TASK_KEYS]


@operation(
    "POST",
    "/api/v1/admin/batch/jobs/{job_key}/run",
    "Run a batch job",
    status=202,
    access="admin",
    errors=[errors.UNKNOWN_JOB_KEY, errors.ALREADY_RUNNING],
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
        return shown_run(await services.maintenance.order(_task(job_key), identity))
    except Conflict:
        raise ApiFailure(errors.ALREADY_RUNNING) from None


@operation(
    "POST",
    "/api/v1/admin/batch/jobs/{job_key}/cancel",
    "Cancel a batch job",
    access="admin",
    errors=[errors.UNKNOWN_JOB_KEY, errors.NOT_RUNNING],
    action="maintenance run.cancel",
    request_example={"reason": "it takes too long"},
    response_example=examples.BATCH_RUN,
)
async def cancel_batch_job(services: CatalogueBatchServices, job_key: JobKey, body: AuditedOrder) -> BatchRun:  # noqa: ARG001 - its reason is audited
    try:
        return shown_run(await services.maintenance.cancel(_task(job_key)))
    except Conflict:
        raise ApiFailure(errors.NOT_RUNNING) from None


@operation(
    "POST",
    "/api/v1/admin/batch/crawler/partitions",
    "Create the partition of the next month of logs",
    status=202,
    access="admin",
    errors=[errors.ALREADY_RUNNING],
    action="maintenance run.create",
    request_example={"reason": "before the first of the month"},
    response_example=examples.BATCH_RUN,
)
async def create_partitions(services: CatalogueBatchServices, body: AuditedOrder, identity: Caller) -> BatchRun:  # noqa: ARG001 - its reason is audited
    try:
        return shown_run(await services.maintenance.run_now(BATCH_KEYS["crawler.partition"], identity))
    except Conflict:
        raise ApiFailure(errors.ALREADY_RUNNING) from None


@operation(
    "GET",
    "/api/v1/admin/batch/schedule",
    "List the times of batch jobs",
    access="admin",
    response_example=[examples.BATCH_SCHEDULE],
)
async def get_batch_schedule(services: CatalogueBatchServices) -> list[BatchSchedule]:
    return [shown_schedule(task.schedule) for task in await services.maintenance.tasks() if task.key in TASK_KEYS]


@operation(
    "PATCH",
    "/api/v1/admin/batch/schedule",
    "Change the times of a batch job",
    access="admin",
    errors=[errors.INVALID_CRON, errors.UNKNOWN_JOB_KEY],
    action="maintenance schedule.update",
    request_example={"jobkey": "crawler.partition", "cron": "35 0 1 * *"},
    response_example=examples.BATCH_SCHEDULE,
)
async def change_batch_schedule(services: CatalogueBatchServices, body: BatchScheduleChanges) -> BatchSchedule:
    cron = None if body.cron is UNSET else body.cron
    enabled = None if body.isenabled is UNSET else body.isenabled
    return shown_schedule(await services.maintenance.reschedule(_task(body.jobkey), cron, enabled))


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
