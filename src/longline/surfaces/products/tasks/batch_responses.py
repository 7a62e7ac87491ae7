"""Responses about batches of tasks, and their making from rows."""

import msgspec

from longline.model.recrawls.recrawl_lists import BatchRow
from longline.surfaces.products.field_types import TaskStatus, Timestamp, time_text
from longline.surfaces.products.tasks.task_statuses import by_status


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch."""

    id: int
    name: str
    created_at: Timestamp


class BatchDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A batch with the number of its tasks by status."""

    id: int
    name: str
    created_at: Timestamp
    total_tasks: int
    by_status: dict[TaskStatus, int]


class MovedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch, and the number of its tasks that were moved."""

    batch_id: int
    total_tasks: int


def batch_of(row: BatchRow) -> BatchDetail:
    """Return a batch with its counts."""
    return BatchDetail(
        id=row.id,
        name=row.name,
        created_at=time_text(row.created_at),
        total_tasks=row.total,
        by_status=by_status(row.counts),
    )
