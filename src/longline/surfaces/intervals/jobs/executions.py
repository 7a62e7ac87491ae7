"""Executions of jobs, their statistics, and the dashboard."""

from typing import Annotated

from msgspec import Meta

from longline.services.schedules.run_history import Runs
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import EXECUTION_NOT_FOUND, INVALID_JOB_ID, JOB_NOT_FOUND
from longline.surfaces.intervals.field_types import CheckedJobId, PageQuery, optional_rfc3339
from longline.surfaces.intervals.jobs.execution_responses import (
    DashboardBody,
    ExecutionBody,
    ExecutionListBody,
    JobStatsBody,
    execution_body,
)
from longline.surfaces.intervals.jobs.job_responses import next_run_at
from longline.surfaces.operation import operation

ExecutionId = Annotated[str, Meta(description="Id of an execution.")]


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/executions",
    "List the executions of a job",
    errors=(INVALID_JOB_ID,),
    response_example=examples.EXECUTION_LIST,
)
async def list_executions(services: Runs, job_id: CheckedJobId, query: PageQuery) -> ExecutionListBody:
    """An unknown job has none."""
    rows, total = await services.find(job_id, query.limit, query.offset)
    return ExecutionListBody([execution_body(row, job_id) for row in rows], total, query.limit, query.offset)


@operation(
    "GET",
    "/api/v1/jobs/{job_id}/stats",
    "Return the statistics of a job's executions",
    errors=(INVALID_JOB_ID, JOB_NOT_FOUND),
    response_example=examples.JOB_STATS,
)
async def show_job_stats(services: Runs, job_id: CheckedJobId) -> JobStatsBody:
    totals, row = await services.record(job_id)
    return JobStatsBody(
        total_executions=totals.total,
        successful_runs=totals.completed,
        failed_runs=totals.failed,
        average_duration_ms=totals.average_ms or 0,
        last_execution_at=optional_rfc3339(totals.last_at),
        next_scheduled_at=next_run_at(row),
        success_rate=totals.completed / totals.total if totals.total else 0,
    )


@operation(
    "GET",
    "/api/v1/executions/{execution_id}",
    "Return an execution",
    errors=(EXECUTION_NOT_FOUND,),
    response_example=examples.EXECUTION,
)
async def show_execution(services: Runs, execution_id: ExecutionId) -> ExecutionBody:
    run, schedule = await services.get(execution_id)
    return execution_body(run, schedule.uid)


@operation("GET", "/api/v1/stats", "Count the pages and documents of today", response_example=examples.DASHBOARD)
async def show_dashboard(services: Runs) -> DashboardBody:
    brought = await services.today()
    return DashboardBody(
        crawled_today=brought.crawled,
        indexed_today=brought.indexed,
        classified_today=0,
        published_today=0,
        total_sources=0,
        active_sources=0,
        errors_today=0,
    )


EXECUTIONS = (list_executions, show_job_stats, show_execution, show_dashboard)
