"""Executions and their statistics, and the dashboard."""

from typing import Any

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from longline.surfaces.intervals.asking import Asked, known_id
from longline.surfaces.intervals.paging import page
from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.shapes import execution, stats

Body = dict[str, Any]


@get("/api/v1/jobs/{job_id:str}/executions", summary="The executions of a job")
async def list_executions(job_id: FromPath[str], request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    limit, offset = page(request)
    rows, total = await desk.runs.find(known_id(job_id), limit, offset)
    found = [execution(row, job_id) for row in rows]
    return {"executions": found, "total": total, "limit": limit, "offset": offset}


@get("/api/v1/jobs/{job_id:str}/stats", summary="How the executions of a job went")
async def job_stats(job_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return stats(*await desk.runs.record(known_id(job_id)))


@get("/api/v1/executions/{execution_id:str}", summary="One execution")
async def show_execution(execution_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    run, schedule = await desk.runs.get(execution_id)
    return execution(run, schedule.uid)


@get("/api/v1/stats", summary="What was crawled and indexed today")
async def dashboard(desk: NamedDependency[IntervalServices]) -> Body:
    brought = await desk.runs.today()
    zeros = dict.fromkeys(("classified_today", "published_today", "total_sources", "active_sources", "errors_today"), 0)
    return {"crawled_today": brought.crawled, "indexed_today": brought.indexed, **zeros}


EXECUTIONS = (list_executions, job_stats, dashboard)
ONE_EXECUTION = (show_execution,)
