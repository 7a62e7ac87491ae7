"""`/api/admin/batches`: labels for tasks that are moved together."""

from dataclasses import dataclass

from longline.services.recrawls.batches import Batches
from longline.surfaces.operation import operation
from longline.surfaces.products import errors
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import BatchId, PagedQuery, time_text
from longline.surfaces.products.tasks import examples
from longline.surfaces.products.tasks.batch_responses import Batch, BatchDetail, MovedBatch, batch_of
from longline.surfaces.products.tasks.requests import BatchRestart, NewBatchRequest

PATH = "/api/admin/batches"


@dataclass(frozen=True, slots=True)
class BatchServices:
    """The batches."""

    batches: Batches


@operation(
    "POST",
    PATH,
    "Make a batch",
    access="admin",
    status=201,
    errors=(errors.INVALID_FIELD,),
    request_example=examples.NEW_BATCH,
    response_example=examples.CREATED_BATCH,
    action="batch.create",
)
async def add_batch(services: BatchServices, body: NewBatchRequest) -> WriteSuccess[Batch]:
    """Make a batch without tasks; tasks name it when they are submitted."""
    row = await services.batches.make(body.name)
    return written(Batch(id=row.id, name=row.name, created_at=time_text(row.created_at)), "Batch created successfully")


@operation(
    "GET",
    PATH,
    "List batches",
    access="admin",
    response_example=examples.BATCHES,
)
async def list_batches(services: BatchServices, query: PagedQuery) -> ListSuccess[Batch]:
    """Return one page, the newest batch first."""
    rows, total = await services.batches.find(limit=query.per_page, offset=query.offset)
    found = [Batch(id=row.id, name=row.name, created_at=time_text(row.created_at)) for row in rows]
    return listed(found, query.page, query.per_page, total)


@operation(
    "GET",
    f"{PATH}/{{batch_id}}",
    "Show a batch",
    access="admin",
    errors=(errors.NO_BATCH,),
    response_example=examples.BATCH,
)
async def show_batch(services: BatchServices, batch_id: BatchId) -> BatchDetail:
    """Return a batch with the number of its tasks by status."""
    return batch_of(await services.batches.get(batch_id))


@operation(
    "POST",
    f"{PATH}/{{batch_id}}/restart",
    "Restart the tasks of a batch",
    access="admin",
    errors=(errors.NO_BATCH, errors.INVALID_FIELD),
    request_example=examples.RESTART_BATCH,
    response_example=examples.RESTARTED_BATCH,
    action="task.restart",
)
async def restart_batch(
    services: BatchServices, batch_id: BatchId, body: BatchRestart | None
) -> WriteSuccess[MovedBatch]:
    """Restart all tasks, or with `only_failed` the failed ones."""
    moved = await services.batches.restart(batch_id, only_failed=body is not None and body.only_failed)
    return _moved(batch_id, moved, "restarted")


@operation(
    "POST",
    f"{PATH}/{{batch_id}}/pause",
    "Pause the tasks of a batch",
    access="admin",
    errors=(errors.NO_BATCH,),
    response_example=examples.PAUSED_BATCH,
    action="task.pause",
)
async def pause_batch(services: BatchServices, batch_id: BatchId) -> WriteSuccess[MovedBatch]:
    """Pause the tasks that can be paused."""
    return _moved(batch_id, await services.batches.pause(batch_id), "paused")


@operation(
    "POST",
    f"{PATH}/{{batch_id}}/resume",
    "Resume the tasks of a batch",
    access="admin",
    errors=(errors.NO_BATCH,),
    response_example=examples.RESUMED_BATCH,
    action="task.resume",
)
async def resume_batch(services: BatchServices, batch_id: BatchId) -> WriteSuccess[MovedBatch]:
    """Resume the paused tasks."""
    return _moved(batch_id, await services.batches.resume(batch_id), "resumed")


@operation(
    "POST",
    f"{PATH}/{{batch_id}}/cancel",
    "Cancel the tasks of a batch",
    access="admin",
    errors=(errors.NO_BATCH,),
    response_example=examples.CANCELLED_BATCH,
    action="task.cancel",
)
async def cancel_batch(services: BatchServices, batch_id: BatchId) -> WriteSuccess[MovedBatch]:
    """Cancel the tasks that are not cancelled."""
    return _moved(batch_id, await services.batches.cancel(batch_id), "cancelled")


def _moved(batch_id: int, moved: list[int], verb: str) -> WriteSuccess[MovedBatch]:
    return written(MovedBatch(batch_id=batch_id, total_tasks=len(moved)), f"{len(moved)} tasks {verb} successfully")


BATCHES = (add_batch, list_batches, show_batch, restart_batch, pause_batch, resume_batch, cancel_batch)
