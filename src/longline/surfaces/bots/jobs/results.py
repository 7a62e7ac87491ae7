"""`/api/crawl/admin/results` and `/dashboard`: results of jobs and the figures of all jobs, for admins."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, structs

from longline.services.bots.tasks import BotTasks
from longline.surfaces.bots import ADMIN, errors, examples
from longline.surfaces.bots.field_types import optional_time, share
from longline.surfaces.bots.job_statuses import job_counts
from longline.surfaces.bots.jobs.dashboard_responses import (
    DashboardFigures,
    JobCounts,
    PolicyCounts,
    active_bot,
)
from longline.surfaces.bots.jobs.result_responses import BotResultDetail, ResultPage, result_of
from longline.surfaces.bots.queries import ResultQuery
from longline.surfaces.operation import operation

ResultId = Annotated[str, Meta(description="Id of the result.", extra_json_schema={"format": "uuid"})]


@dataclass(frozen=True, slots=True)
class ResultServices:
    """The service behind results and figures."""

    tasks: BotTasks


@operation(
    "GET",
    f"{ADMIN}/results",
    "List results",
    access="admin",
    errors=(errors.INVALID_LIMIT,),
    response_example=examples.RESULTS,
)
async def list_results(services: ResultServices, query: ResultQuery) -> ResultPage:
    rows = await services.tasks.results(query.filter(), limit=query.limit, offset=query.offset)
    return ResultPage([result_of(row) for row in rows], len(rows), query.limit, query.offset)


@operation(
    "GET",
    f"{ADMIN}/results/{{id}}",
    "Show a result with its page",
    access="admin",
    errors=(errors.NO_RESULT,),
    response_example=examples.RESULT_DETAIL,
)
async def show_result(services: ResultServices, id: ResultId) -> BotResultDetail:
    row, page = await services.tasks.result(id)
    return BotResultDetail(**structs.asdict(result_of(row)), raw_html=page)


@operation(
    "GET",
    f"{ADMIN}/dashboard",
    "Show the figures of jobs, bots and policies",
    access="admin",
    response_example=examples.DASHBOARD,
)
async def show_dashboard(services: ResultServices) -> DashboardFigures:
    """Count jobs and policies, and the activity of bots in the present clock hour and the one before."""
    found = await services.tasks.dashboard()
    totals, policies = found.totals, found.schedules
    return DashboardFigures(
        jobs=JobCounts(**job_counts(found.states)),
        retry_histogram={str(retries): count for retries, count in found.retries.items()},
        jobs_pulled_per_hour=totals.pulled,
        retry_rate=share(totals.retried, totals.completed + totals.failed),
        bot_activity=[active_bot(bot) for bot in found.bots],
        policies=PolicyCounts(
            policies.total, policies.enabled, policies.due, policies.failing, optional_time(policies.next_due)
        ),
    )


RESULT_OPERATIONS = (list_results, show_result, show_dashboard)
