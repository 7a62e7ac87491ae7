"""`/api/admin/tasks/{id}/…`: tasks are restarted, paused, resumed, cancelled, and get other priorities."""

from longline.model.errors import IllegalMove
from longline.model.recrawls.recrawl import PRIORITY_STEP
from longline.model.recrawls.recrawl_lists import RecrawlRow
from longline.services.recrawls.recrawl_moves import PageMissing
from longline.surfaces.operation import ApiError, ApiFailure, operation
from longline.surfaces.products import errors
from longline.surfaces.products.envelope import WriteSuccess, written
from longline.surfaces.products.field_types import TaskId, time_text
from longline.surfaces.products.tasks import examples
from longline.surfaces.products.tasks.requests import (
    PriorityChange,
    ReparseRequest,
    RestartFailedRequest,
    RestartRequest,
)
from longline.surfaces.products.tasks.task_responses import (
    CancelledTask,
    PausedTask,
    PrioritizedTask,
    ReparsedTask,
    RestartedTask,
    RestartedTasks,
    ResumedTask,
    html_path,
)
from longline.surfaces.products.tasks.task_statuses import STATUSES
from longline.surfaces.products.tasks.tasks import PATH, TaskServices

CANNOT_PAUSE = errors.invalid_status("A task that is completed cannot be paused", "completed")
CANNOT_RESUME = errors.invalid_status("A task that is queued cannot be resumed", "queued")


async def _refusal(services: TaskServices, task_id: int, verb: str) -> ApiError:
    """Return the error for a status that does not allow an action."""
    status = STATUSES[(await services.recrawls.get(task_id)).phase]
    return errors.invalid_status(f"A task that is {status} cannot be {verb}", status)


@operation(
    "POST",
    f"{PATH}/restart-failed",
    "Restart failed tasks",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.INVALID_FIELD),
    request_example=examples.RESTART_FAILED,
    response_example=examples.RESTARTED_TASKS,
    action="task.restart",
)
async def restart_failed_tasks(
    services: TaskServices, body: RestartFailedRequest | None
) -> WriteSuccess[RestartedTasks]:
    """Restart failed tasks from retry 0, the oldest failures first."""
    wanted = body or RestartFailedRequest()
    ids = await services.orders.restart_failed(
        source_id=wanted.domain_id, failed_after=wanted.failed_after, limit=wanted.limit
    )
    restarted = RestartedTasks(total_restarted=len(ids), task_ids=ids)
    return written(restarted, f"{len(ids)} failed tasks restarted successfully")


@operation(
    "POST",
    f"{PATH}/{{task_id}}/restart",
    "Restart a task",
    access="admin",
    errors=(errors.NO_TASK, errors.INVALID_PRIORITY, errors.INVALID_FIELD, errors.CONFLICT),
    request_example=examples.RESTART,
    response_example=examples.RESTARTED_TASK,
    action="task.restart",
)
async def restart_task(
    services: TaskServices, task_id: TaskId, body: RestartRequest | None
) -> WriteSuccess[RestartedTask]:
    """Crawl a task in any state again; the result of a worker that has it in hand is discarded."""
    wanted = body or RestartRequest()
    row = await services.orders.restart(
        task_id, reset_retries=wanted.reset_retry_count, priority=wanted.priority, due_at=wanted.scheduled_at
    )
    restarted = RestartedTask(
        task_id=row.id,
        status=STATUSES[row.phase],
        scheduled_at=time_text(row.due_at),
        retry_count=row.retries,
        priority=_priority(row),
    )
    return written(restarted, "Task restarted successfully")


def _priority(row: RecrawlRow) -> int:
    return row.priority // PRIORITY_STEP


@operation(
    "POST",
    f"{PATH}/{{task_id}}/restart-parsing",
    "Parse the page of a task again",
    access="admin",
    errors=(errors.NO_TASK, errors.HTML_NOT_AVAILABLE, errors.INVALID_FIELD),
    request_example=examples.REPARSE,
    response_example=examples.REPARSED_TASK,
    action="task.reparse",
)
async def restart_parsing(
    services: TaskServices, task_id: TaskId, body: ReparseRequest | None
) -> WriteSuccess[ReparsedTask]:
    """Parse the stored page, without a request to its site."""
    wanted = body or ReparseRequest()
    try:
        row = await services.orders.reparse(task_id, reset_retries=wanted.reset_retry_count)
    except PageMissing as error:
        raise ApiFailure(errors.html_not_available(task_id)) from error
    reparsed = ReparsedTask(task_id=row.id, status="downloaded", html_path=html_path(row) or "")
    return written(reparsed, "Parsing phase restarted successfully")


@operation(
    "POST",
    f"{PATH}/{{task_id}}/pause",
    "Pause a task",
    access="admin",
    errors=(errors.NO_TASK, CANNOT_PAUSE),
    response_example=examples.PAUSED_TASK,
    action="task.pause",
)
async def pause_task(services: TaskServices, task_id: TaskId) -> WriteSuccess[PausedTask]:
    """Pause a task that is pending, queued, crawling or parsing."""
    try:
        before, row = await services.orders.pause(task_id)
    except IllegalMove as error:
        raise ApiFailure(await _refusal(services, task_id, "paused")) from error
    paused = PausedTask(task_id=row.id, status=STATUSES[row.phase], previous_status=STATUSES[before.phase])
    return written(paused, "Task paused successfully")


@operation(
    "POST",
    f"{PATH}/{{task_id}}/resume",
    "Resume a task",
    access="admin",
    errors=(errors.NO_TASK, CANNOT_RESUME),
    response_example=examples.RESUMED_TASK,
    action="task.resume",
)
async def resume_task(services: TaskServices, task_id: TaskId) -> WriteSuccess[ResumedTask]:
    """Resume a paused task, which is due now; its retries are counted on."""
    try:
        _, row = await services.orders.resume(task_id)
    except IllegalMove as error:
        raise ApiFailure(await _refusal(services, task_id, "resumed")) from error
    resumed = ResumedTask(task_id=row.id, status=STATUSES[row.phase], scheduled_at=time_text(row.due_at))
    return written(resumed, "Task resumed successfully")


@operation(
    "PATCH",
    f"{PATH}/{{task_id}}/priority",
    "Change the priority of a task",
    access="admin",
    errors=(errors.NO_TASK, errors.INVALID_PRIORITY, errors.INVALID_FIELD),
    request_example=examples.PRIORITY,
    response_example=examples.PRIORITIZED_TASK,
    action="task.prioritize",
)
async def change_task_priority(
    services: TaskServices, task_id: TaskId, body: PriorityChange
) -> WriteSuccess[PrioritizedTask]:
    """Give a task another priority; one in a worker's hand has it from its next rest on."""
    before, row = await services.orders.prioritize(task_id, body.priority)
    changed = PrioritizedTask(task_id=row.id, priority=_priority(row), previous_priority=_priority(before))
    return written(changed, "Task priority updated successfully")


@operation(
    "DELETE",
    f"{PATH}/{{task_id}}",
    "Cancel a task",
    access="admin",
    errors=(errors.NO_TASK,),
    response_example=examples.CANCELLED_TASK,
    action="task.cancel",
)
async def cancel_task(services: TaskServices, task_id: TaskId) -> WriteSuccess[CancelledTask]:
    """Cancel a task, which is not crawled again then; its row is kept."""
    row = await services.orders.cancel(task_id)
    return written(CancelledTask(task_id=row.id, status="cancelled"), "Task cancelled successfully")


TASK_MOVES = (
    restart_failed_tasks,
    restart_task,
    restart_parsing,
    pause_task,
    resume_task,
    change_task_priority,
    cancel_task,
)
