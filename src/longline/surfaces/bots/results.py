"""`/api/crawl/admin/results` and `/dashboard`: results of jobs and the figures of all jobs, for admins."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Raw, structs

from longline.model.bots.bot import BotActivity
from longline.model.bots.bot_task import ResultRow
from longline.model.ids import task_uuid
from longline.services.bots.tasks import BotTasks
from longline.surfaces.bots import examples
from longline.surfaces.bots import statuses_and_errors as words
from longline.surfaces.bots.paths import ADMIN
from longline.surfaces.bots.queries import ResultQuery
from longline.surfaces.bots.responses import (
    ActiveBot,
    BotResult,
    BotResultDetail,
    DashboardFigures,
    JobCounts,
    PolicyCounts,
    ResultPage,
    amount,
    optional_time,
    share,
    time_text,
)
from longline.surfaces.bots.statuses_and_errors import job_counts
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
    errors=(words.INVALID_LIMIT,),
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
    errors=(words.NO_RESULT,),
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
        bot_activity=[_active_bot(bot) for bot in found.bots],
        policies=PolicyCounts(
            policies.total, policies.enabled, policies.due, policies.failing, optional_time(policies.next_due)
        ),
    )


RESULT_OPERATIONS = (list_results, show_result, show_dashboard)


def result_of(row: ResultRow) -> BotResult:
    """Return a result with all its fields except the page."""
    return BotResult(
        id=row.uid,
        job_id=task_uuid(row.id, row.task_created_at),
        url=row.url,
        price=amount(row.price),
        currency=row.currency,
        title=row.title,
        in_stock=row.in_stock,
        parsed_data=Raw(row.data.encode()),
        crawled_at=time_text(row.crawled_at),
        created_at=time_text(row.created_at),
    )


def _active_bot(bot: BotActivity) -> ActiveBot:
    return ActiveBot(
        bot_id=bot.name,
        enabled=bot.enabled,
        registered=bot.registered,
        pulls_per_hour=bot.pulls_now,
        jobs_pulled_per_hour=bot.pulled_now,
        total_jobs_pulled=bot.pulled,
        total_jobs_completed=bot.completed,
        total_jobs_failed=bot.failed,
        success_rate=share(bot.completed, bot.failed),
        last_pull_at=optional_time(bot.last_pull_at),
        last_submit_at=optional_time(bot.last_submit_at),
    )
