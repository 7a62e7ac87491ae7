"""`/api/v1/jobs`: create, list, change, delete and control jobs."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.schedules.schedule import ScheduleFilter, ScheduleKind
from longline.services.schedules.schedules import Schedules
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import (
    ALREADY_RECURRING,
    BAD_URL,
    INTERVAL_REQUIRED,
    INVALID_JOB_ID,
    JOB_CHANGING,
    JOB_NOT_FOUND,
    URL_REQUIRED,
    WRONG_STATE,
    WRONG_TYPE,
)
from longline.surfaces.intervals.field_types import CheckedJobId, JobId, MessageBody, PageQuery
from longline.surfaces.intervals.jobs.job_requests import JobChanges, JobRequest, changed_spec, new_spec
from longline.surfaces.intervals.jobs.job_responses import JobBody, job_body
from longline.surfaces.operation import operation

SortField = Annotated[
    Literal["created_at", "updated_at", "status", "source_name", "next_run_at", "last_run_at", "type"],
    Meta(description="Field of the order."),
]
SortOrder = Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")]

CONTROL_ERRORS = (WRONG_STATE, JOB_NOT_FOUND, JOB_CHANGING)


class JobQuery(PageQuery, frozen=True, kw_only=True):
    """The filter and the order of a list of jobs."""

    status: Annotated[str, Meta(description="States, separated by commas.")] = ""
    source_id: Annotated[str, Meta(description="Id of the source.")] = ""
    search: Annotated[str, Meta(description="Part of the source's name or of the URL.")] = ""
    sort_by: SortField = "created_at"
    sort_order: SortOrder = "desc"


class JobListBody(msgspec.Struct, frozen=True):
    """One page of jobs."""

    jobs: list[JobBody]
    total: int
    limit: int
    offset: int
    sort_by: SortField
    sort_order: SortOrder


class StatusCounts(msgspec.Struct, frozen=True):
    """The number of jobs in each state."""

    pending: int
    scheduled: int
    running: int
    paused: int
    completed: int
    failed: int
    cancelled: int


class ForcedJobBody(msgspec.Struct, frozen=True):
    """The answer to a job that was made due at once."""

    message: str
    job_id: str


@dataclass(frozen=True, slots=True)
class JobServices:
    """The schedules behind the jobs; `lease_ms` is the length of a run's lease."""

    schedules: Schedules
    lease_ms: int


@operation("GET", "/api/v1/jobs", "List jobs", response_example=examples.JOB_LIST)
async def list_jobs(services: JobServices, query: JobQuery) -> JobListBody:
    states = tuple(word.strip() for word in query.status.split(",") if word.strip())
    wanted = ScheduleFilter(
        ScheduleKind.CRAWL,
        states,
        query.source_id or None,
        query.search or None,
        query.sort_by,
        query.sort_order == "asc",
    )
    rows, total = await services.schedules.find(wanted, query.limit, query.offset)
    jobs = [job_body(row, services.lease_ms) for row in rows]
    return JobListBody(jobs, total, query.limit, query.offset, query.sort_by, query.sort_order)


@operation("GET", "/api/v1/jobs/status-counts", "Count the jobs in each state", response_example=examples.STATUS_COUNTS)
async def count_jobs(services: JobServices) -> StatusCounts:
    return StatusCounts(**await services.schedules.states())


@operation(
    "POST",
    "/api/v1/jobs",
    "Create a job",
    status=201,
    errors=(URL_REQUIRED, BAD_URL, INTERVAL_REQUIRED, WRONG_TYPE, ALREADY_RECURRING),
    request_example=examples.NEW_JOB,
    response_example=examples.JOB,
    action="schedule.create",
)
async def create_job(services: JobServices, body: JobRequest) -> JobBody:
    """A recurring job replaces the recurring job of its source, and has its id."""
    return job_body(await services.schedules.make(new_spec(body)), services.lease_ms)


@operation(
    "GET",
    "/api/v1/jobs/{job_id}",
    "Return a job",
    errors=(INVALID_JOB_ID, JOB_NOT_FOUND),
    response_example=examples.JOB,
)
async def show_job(services: JobServices, job_id: CheckedJobId) -> JobBody:
    return job_body(await services.schedules.get(job_id), services.lease_ms)


@operation(
    "PUT",
    "/api/v1/jobs/{job_id}",
    "Change a job",
    errors=(*CONTROL_ERRORS, BAD_URL, INTERVAL_REQUIRED, WRONG_TYPE, ALREADY_RECURRING),
    request_example=examples.JOB_CHANGES,
    response_example=examples.JOB,
    action="schedule.change",
)
async def change_job(services: JobServices, job_id: JobId, body: JobChanges) -> JobBody:
    """A new interval gets a new place among the slots of the day."""
    row = await services.schedules.change(job_id, lambda spec: changed_spec(spec, body), body.status or None)
    return job_body(row, services.lease_ms)


@operation(
    "DELETE",
    "/api/v1/jobs/{job_id}",
    "Delete a job and its executions",
    errors=(JOB_NOT_FOUND,),
    response_example=examples.JOB_DELETED,
    action="schedule.delete",
)
async def delete_job(services: JobServices, job_id: JobId) -> MessageBody:
    """A running execution is cancelled first."""
    await services.schedules.remove(job_id)
    return MessageBody("Job deleted successfully")


@operation(
    "POST",
    "/api/v1/jobs/{job_id}/pause",
    "Pause a scheduled job",
    errors=CONTROL_ERRORS,
    response_example=examples.JOB,
    action="schedule.pause",
)
async def pause_job(services: JobServices, job_id: JobId) -> JobBody:
    return job_body(await services.schedules.pause(job_id), services.lease_ms)


@operation(
    "POST",
    "/api/v1/jobs/{job_id}/resume",
    "Resume a paused job",
    errors=CONTROL_ERRORS,
    response_example=examples.JOB,
    action="schedule.resume",
)
async def resume_job(services: JobServices, job_id: JobId) -> JobBody:
    return job_body(await services.schedules.resume(job_id), services.lease_ms)


@operation(
    "POST",
    "/api/v1/jobs/{job_id}/cancel",
    "Cancel a job for good, and its running execution",
    errors=CONTROL_ERRORS,
    response_example=examples.JOB,
    action="schedule.cancel",
)
async def cancel_job(services: JobServices, job_id: JobId) -> JobBody:
    return job_body(await services.schedules.cancel(job_id), services.lease_ms)


@operation(
    "POST",
    "/api/v1/jobs/{job_id}/retry",
    "Run a failed job again",
    errors=CONTROL_ERRORS,
    response_example=examples.JOB,
    action="schedule.retry",
)
async def retry_job(services: JobServices, job_id: JobId) -> JobBody:
    return job_body(await services.schedules.retry(job_id), services.lease_ms)


@operation(
    "POST",
    "/api/v2/jobs/{job_id}/force-run",
    "Run a scheduled job now",
    status=202,
    errors=(*CONTROL_ERRORS, INVALID_JOB_ID),
    response_example=examples.FORCED_JOB,
    action="schedule.force",
)
async def force_job(services: JobServices, job_id: CheckedJobId) -> ForcedJobBody:
    """The regular times of the job stay."""
    row = await services.schedules.force(job_id)
    return ForcedJobBody("Job queued for immediate execution", row.uid)


JOBS = (
    *(list_jobs, count_jobs, create_job, show_job, change_job, delete_job),
    *(pause_job, resume_job, cancel_job, retry_job, force_job),
)
