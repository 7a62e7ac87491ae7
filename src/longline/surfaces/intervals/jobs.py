"""`/api/v1/jobs`: create, list, change, delete and control jobs."""

from typing import Any

from litestar import Response, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath

from longline.model.schedules.schedule import CRAWL, ScheduleFilter, ScheduleSpec
from longline.surfaces.intervals.asking import Asked, body, known_id
from longline.surfaces.intervals.paging import page
from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.shapes import job, read_state, read_terms
from longline.surfaces.intervals.words import SORTS

Body = dict[str, Any]


@get("/api/v1/jobs", summary="Jobs, filtered and sorted")
async def list_jobs(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    limit, offset = page(request)
    asked = request.query_params
    sort, order = asked.get("sort_by", ""), asked.get("sort_order", "").lower()
    sort = sort if sort in SORTS else "created_at"
    order = order if order in ("asc", "desc") else "desc"
    states = tuple(word.strip() for word in asked.get("status", "").split(",") if word.strip())
    wanted = ScheduleFilter(
        CRAWL, states, asked.get("source_id") or None, asked.get("search") or None, sort, order == "asc"
    )
    rows, total = await desk.schedules.find(wanted, limit, offset)
    jobs = [job(row, desk.lease_ms) for row in rows]
    return {"jobs": jobs, "total": total, "limit": limit, "offset": offset, "sort_by": sort, "sort_order": order}


@get("/api/v1/jobs/status-counts", summary="How many jobs there are in each state")
async def status_counts(desk: NamedDependency[IntervalServices]) -> dict[str, int]:
    return await desk.schedules.states()


@post("/api/v1/jobs", summary="Make a job")
async def make_job(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.make(read_terms(await body(request))), desk.lease_ms)


@get("/api/v1/jobs/{job_id:str}", summary="One job")
async def show_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.get(known_id(job_id)), desk.lease_ms)


@put("/api/v1/jobs/{job_id:str}", summary="Change a job")
async def change_job(job_id: FromPath[str], request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    found = await body(request)

    def amend(terms: ScheduleSpec) -> ScheduleSpec:
        return read_terms(found, terms)

    return job(await desk.schedules.change(job_id, amend, read_state(found)), desk.lease_ms)


@delete("/api/v1/jobs/{job_id:str}", status_code=200, summary="Delete a job and its executions")
async def delete_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    await desk.schedules.remove(job_id)
    return {"message": "Job deleted successfully"}


@post("/api/v1/jobs/{job_id:str}/pause", status_code=200, summary="Hold a job back")
async def pause_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.pause(job_id), desk.lease_ms)


@post("/api/v1/jobs/{job_id:str}/resume", status_code=200, summary="Let a job go on")
async def resume_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.resume(job_id), desk.lease_ms)


@post("/api/v1/jobs/{job_id:str}/cancel", status_code=200, summary="Stop a job for good")
async def cancel_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.cancel(job_id), desk.lease_ms)


@post("/api/v1/jobs/{job_id:str}/retry", status_code=200, summary="Run a failed job again")
async def retry_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return job(await desk.schedules.retry(job_id), desk.lease_ms)


@post("/api/v2/jobs/{job_id:str}/force-run", summary="Run a scheduled job now")
async def force_job(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Response[Body]:
    row = await desk.schedules.force(known_id(job_id))
    return Response({"message": "Job queued for immediate execution", "job_id": row.uid}, status_code=202)


JOBS = (list_jobs, status_counts, make_job, show_job, change_job, delete_job)
CONTROLS = (pause_job, resume_job, cancel_job, retry_job, force_job)
