"""`/api/crawl/admin/jobs` and `/expire-locks`: management of jobs, for admins."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, structs

from longline.model.duration import MINUTE_MS
from longline.services.bots.policies import BotPolicies
from longline.services.bots.tasks import BotTasks
from longline.surfaces.bots import ADMIN, errors, examples
from longline.surfaces.bots.job_statuses import REPAIRS, stored_priority
from longline.surfaces.bots.jobs.job_responses import (
    BotJob,
    BotJobDetail,
    DeletedRow,
    ExpiredLocks,
    JobPage,
    RepairedJobs,
    job_of,
)
from longline.surfaces.bots.jobs.result_responses import result_of
from longline.surfaces.bots.queries import BotJobQuery
from longline.surfaces.bots.requests import ExpireLocksRequest, NewJob, RepairRequest
from longline.surfaces.operation import operation

JobPathId = Annotated[str, Meta(description="Id of the job.", extra_json_schema={"format": "uuid"})]


@dataclass(frozen=True, slots=True)
class BotJobServices:
    """The services behind the jobs."""

    tasks: BotTasks
    policies: BotPolicies


@operation(
    "GET",
    f"{ADMIN}/jobs",
    "List jobs",
    access="admin",
    errors=(errors.INVALID_LIMIT, errors.INVALID_STATUS),
    response_example=examples.JOBS,
)
async def list_jobs(services: BotJobServices, query: BotJobQuery) -> JobPage:
    rows = await services.tasks.find(query.filter(), limit=query.limit, offset=query.offset)
    return JobPage([job_of(row) for row in rows], len(rows), query.limit, query.offset)


@operation(
    "POST",
    f"{ADMIN}/jobs",
    "Make a job without a policy",
    access="admin",
    status=201,
    errors=(errors.INVALID_URL,),
    request_example=examples.NEW_JOB,
    response_example=examples.JOB,
    action="task.create",
)
async def add_job(services: BotJobServices, body: NewJob) -> BotJob:
    priority, lease_ms = stored_priority(body.priority), body.timeout_minutes * MINUTE_MS
    return job_of(await services.tasks.add(body.url.strip(), priority, body.max_retries, lease_ms))


@operation(
    "GET",
    f"{ADMIN}/jobs/{{id}}",
    "Show a job with its result",
    access="admin",
    errors=(errors.NO_JOB,),
    response_example=examples.JOB_DETAIL,
)
async def show_job(services: BotJobServices, id: JobPathId) -> BotJobDetail:
    row, result = await services.tasks.get(id)
    fields = structs.asdict(job_of(row))
    return BotJobDetail(**fields, result=None if result is None else result_of(result))


@operation(
    "DELETE",
    f"{ADMIN}/jobs/{{id}}",
    "Delete a job and its result",
    access="admin",
    errors=(errors.NO_JOB, errors.LOCKED_JOB),
    response_example=examples.DELETED,
    action="task.delete",
)
async def delete_job(services: BotJobServices, id: JobPathId) -> DeletedRow:
    """Delete a job that is not locked."""
    await services.tasks.delete(id)
    return DeletedRow(id, True)


@operation(
    "POST",
    f"{ADMIN}/jobs/mark-pending",
    "Make jobs pending",
    access="admin",
    errors=(errors.INVALID_IDS,),
    request_example=examples.REPAIR,
    response_example=examples.REPAIRED,
    action="task.restart",
)
async def mark_pending(services: BotJobServices, body: RepairRequest) -> RepairedJobs:
    """Take the locks from jobs and make them pending. Jobs that were done or failed have all their retries again."""
    return RepairedJobs(await services.tasks.repair(body.ids, REPAIRS["mark-pending"]))


@operation(
    "POST",
    f"{ADMIN}/jobs/mark-expired",
    "Make locked jobs expired",
    access="admin",
    errors=(errors.INVALID_IDS,),
    request_example=examples.REPAIR,
    response_example=examples.REPAIRED,
    action="task.expire",
)
async def mark_expired(services: BotJobServices, body: RepairRequest) -> RepairedJobs:
    return RepairedJobs(await services.tasks.repair(body.ids, REPAIRS["mark-expired"]))


@operation(
    "POST",
    f"{ADMIN}/jobs/reset-lock",
    "Make locked jobs pending",
    access="admin",
    errors=(errors.INVALID_IDS,),
    request_example=examples.REPAIR,
    response_example=examples.REPAIRED,
    action="task.release",
)
async def reset_lock(services: BotJobServices, body: RepairRequest) -> RepairedJobs:
    """Take the locks from jobs; the retries that they have used stay used."""
    return RepairedJobs(await services.tasks.repair(body.ids, REPAIRS["reset-lock"]))


@operation(
    "POST",
    f"{ADMIN}/expire-locks",
    "Sweep lapsed locks",
    access="admin",
    errors=(errors.INVALID_LIMIT,),
    request_example=examples.EXPIRE_LOCKS,
    response_example=examples.EXPIRED_LOCKS,
    action="task.sweep",
)
async def expire_locks(services: BotJobServices, body: ExpireLocksRequest) -> ExpiredLocks:
    """Make jobs with lapsed locks expired, or with `auto_retry` pending while retries are left."""
    swept = await services.policies.sweep(body.limit, retry=body.auto_retry, dry=body.dry_run)
    return ExpiredLocks(swept.expired, swept.requeued, swept.failed)


JOB_OPERATIONS = (
    list_jobs, add_job, show_job, delete_job, mark_pending, mark_expired, reset_lock, expire_locks,
)  # fmt: skip
