"""`/api/admin/tasks`: tasks are submitted, shown, listed and counted."""

from collections.abc import Callable
from dataclasses import dataclass

from longline.model.callers.caller import Caller
from longline.services.recrawls.recrawl_moves import RecrawlMoves
from longline.services.recrawls.recrawls import AlreadySubmitted, ForeignUrl, Recrawls, SourceDisabled
from longline.surfaces.operation import ApiError, ApiFailure, operation
from longline.surfaces.products import errors
from longline.surfaces.products.domains.domain_responses import domain_name
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import TaskId
from longline.surfaces.products.tasks import examples
from longline.surfaces.products.tasks.requests import (
    RANGE_WORDS,
    BatchSubmission,
    NewTaskRequest,
    StatsQuery,
    TaskQuery,
)
from longline.surfaces.products.tasks.task_responses import (
    CreatedTask,
    CreatedTasks,
    Task,
    TaskStats,
    created_task,
    stats_of,
    task_of,
)
from longline.surfaces.products.tasks.task_statuses import STATUSES

PATH = "/api/admin/tasks"


@dataclass(frozen=True, slots=True)
class TaskServices:
    """Recrawls and their moves; `now` returns UTC milliseconds."""

    recrawls: Recrawls
    orders: RecrawlMoves
    now: Callable[[], int]


@operation(
    "POST",
    PATH,
    "Submit a URL",
    access="admin",
    status=201,
    errors=(
        errors.NO_DOMAIN,
        errors.NO_TASK,
        errors.NO_BATCH,
        errors.DOMAIN_INACTIVE,
        errors.DUPLICATE_URL,
        errors.INVALID_URL,
        errors.INVALID_PRIORITY,
        errors.INVALID_FIELD,
    ),
    request_example=examples.NEW_TASK,
    response_example=examples.CREATED_TASK,
    action="task.submit",
)
async def submit_task(
    services: TaskServices, body: NewTaskRequest, identity: Caller | None
) -> WriteSuccess[CreatedTask]:
    """Answer 409 for a URL that has a task in any state; a restart crawls it again."""
    try:
        row = await services.recrawls.submit(body.url, body.order(identity))
    except AlreadySubmitted as error:
        raise ApiFailure(errors.duplicate_url(error.known.id, STATUSES[error.known.phase])) from error
    except (SourceDisabled, ForeignUrl) as error:
        raise ApiFailure(_refusal(error)) from error
    return written(created_task(row), "Task created successfully")


def _refusal(error: SourceDisabled | ForeignUrl) -> ApiError:
    if isinstance(error, ForeignUrl):
        return errors.foreign_url(str(error))
    return errors.domain_inactive(domain_name(error.source), error.source.id)


@operation(
    "POST",
    f"{PATH}/batch",
    "Submit many URLs",
    access="admin",
    status=201,
    errors=(errors.NO_DOMAIN, errors.NO_BATCH, errors.DOMAIN_INACTIVE, errors.INVALID_PRIORITY, errors.INVALID_FIELD),
    request_example=examples.NEW_TASKS,
    response_example=examples.CREATED_TASKS,
    action="task.submit",
)
async def submit_tasks(
    services: TaskServices, body: BatchSubmission, identity: Caller | None
) -> WriteSuccess[CreatedTasks]:
    """Count duplicates and invalid URLs, which fail alone."""
    try:
        made = await services.recrawls.submit_all(body.texts, body.order(identity))
    except SourceDisabled as error:
        raise ApiFailure(_refusal(error)) from error
    created = CreatedTasks(
        total_submitted=len(made.ids),
        total_duplicates=made.duplicates,
        total_failed=made.invalid,
        task_ids=made.ids,
    )
    return written(created, f"{len(made.ids)} tasks created successfully")


@operation(
    "GET",
    f"{PATH}/stats",
    "Show figures of tasks",
    access="admin",
    errors=(errors.NO_DOMAIN,),
    response_example=examples.STATS,
)
async def show_task_stats(services: TaskServices, query: StatsQuery) -> TaskStats:
    """Count the tasks that were created in a time."""
    word, age_ms = RANGE_WORDS[query.time_range]
    stats = await services.recrawls.stats(services.now() - age_ms, query.domain_id)
    return stats_of(stats, word)


@operation(
    "GET",
    f"{PATH}/{{task_id}}",
    "Show a task",
    access="admin",
    errors=(errors.NO_TASK,),
    response_example=examples.TASK,
)
async def show_task(services: TaskServices, task_id: TaskId) -> Task:
    """Return a task with all its fields."""
    return task_of(await services.recrawls.get(task_id))


@operation(
    "GET",
    PATH,
    "List tasks",
    access="admin",
    errors=(errors.INVALID_SORT_FIELD, errors.INVALID_PRIORITY),
    response_example=examples.TASKS,
)
async def list_tasks(services: TaskServices, query: TaskQuery) -> ListSuccess[Task]:
    """Return one page; a total above 10,000 of other filters than domain and status is a lower bound."""
    found = await services.recrawls.find(query.filter(), limit=query.per_page, offset=query.offset)
    tasks = [task_of(row) for row in found.rows]
    return listed(tasks, query.page, query.per_page, found.total, is_bounded=found.is_bounded)


TASKS = (submit_task, submit_tasks, show_task_stats, show_task, list_tasks)
