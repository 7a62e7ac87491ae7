"""Responses about tasks and batches."""

import msgspec

from longline.model.recrawls.recrawl import PRIORITY_STEP
from longline.model.recrawls.recrawl_lists import RecrawlRow, RecrawlStats
from longline.surfaces.products.domains.domain_responses import domain_of_source
from longline.surfaces.products.field_types import TaskStatus, Timestamp, optional_time, rounded, time_text
from longline.surfaces.products.tasks.task_statuses import STATUSES, by_status, error_message

DEFAULT_MAX_RETRIES = 3


class CreatedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was created."""

    task_id: int
    url: str
    url_hash: str
    status: TaskStatus
    priority: int
    scheduled_at: Timestamp
    created_at: Timestamp


class CreatedTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a batch: created tasks, URLs that have a task or came twice, and invalid URLs."""

    total_submitted: int
    total_duplicates: int
    total_failed: int
    task_ids: list[int]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task with all its fields."""

    id: int
    domain_id: int
    domain_name: str
    url: str
    url_hash: str
    status: TaskStatus
    priority: int
    scheduled_at: Timestamp
    started_at: Timestamp | None
    completed_at: Timestamp | None
    retry_count: int
    max_retries: int
    error_message: str | None
    crawl_frequency: str
    next_crawl_at: Timestamp | None
    recrawl_count: int
    is_recurring: bool
    html_path: str | None
    http_status_code: int | None
    response_time_ms: int | None
    proxy_id: int | None
    proxy_url: str | None
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp
    run_token: int
    lease_owner: int | None
    lease_expires_at: Timestamp | None
    parent_task_id: int | None
    batch_id: int | None
    webhook_url: str | None


class RestartedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was restarted."""

    task_id: int
    status: TaskStatus
    scheduled_at: Timestamp
    retry_count: int
    priority: int


class ReparsedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task whose page is parsed again."""

    task_id: int
    status: TaskStatus
    html_path: str


class RestartedTasks(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that were restarted."""

    total_restarted: int
    task_ids: list[int]


class PausedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was paused."""

    task_id: int
    status: TaskStatus
    previous_status: TaskStatus


class ResumedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was resumed."""

    task_id: int
    status: TaskStatus
    scheduled_at: Timestamp


class PrioritizedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task with another priority."""

    task_id: int
    priority: int
    previous_priority: int


class CancelledTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is cancelled."""

    task_id: int
    status: TaskStatus


class TaskStats(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of the tasks that were created in a time."""

    total_tasks: int
    by_status: dict[TaskStatus, int]
    success_rate: float
    avg_response_time_ms: float | None
    total_recrawls: int
    time_range: str
    avg_duration_seconds: dict[TaskStatus, float]


def html_path(row: RecrawlRow) -> str | None:
    """Return the path of the page of a task."""
    return f"{row.id}/page.html" if row.has_page else None


def created_task(row: RecrawlRow) -> CreatedTask:
    """Return a task that was created."""
    return CreatedTask(
        task_id=row.id,
        url=row.url,
        url_hash=row.url_hash,
        status=STATUSES[row.phase],
        priority=row.priority // PRIORITY_STEP,
        scheduled_at=time_text(row.due_at),
        created_at=time_text(row.created_at),
    )


def task_of(row: RecrawlRow) -> Task:
    """Return a task with all its fields."""
    return Task(
        id=row.id,
        domain_id=row.source_id,
        domain_name=domain_of_source(row.source_name, row.source_url, row.source_uses),
        url=row.url,
        url_hash=row.url_hash,
        status=STATUSES[row.phase],
        priority=row.priority // PRIORITY_STEP,
        scheduled_at=time_text(row.due_at),
        started_at=optional_time(row.started_at),
        completed_at=optional_time(row.ended_at or None),
        retry_count=row.retries,
        max_retries=DEFAULT_MAX_RETRIES if row.max_attempts is None else row.max_attempts - 1,
        error_message=error_message(row),
        crawl_frequency=row.frequency,
        next_crawl_at=optional_time(row.next_at),
        recrawl_count=row.generation,
        is_recurring=row.recurring,
        html_path=html_path(row),
        http_status_code=row.status,
        response_time_ms=row.fetch_ms,
        proxy_id=row.proxy_id,
        proxy_url=row.proxy_host,
        created_by=row.created_by,
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
        run_token=row.token,
        lease_owner=row.owner,
        lease_expires_at=optional_time(row.lease_until),
        parent_task_id=row.parent_id,
        batch_id=row.batch_id,
        webhook_url=row.webhook,
    )


def stats_of(stats: RecrawlStats, time_range: str) -> TaskStats:
    """Return the figures of tasks."""
    completed, failed = (stats.by_phase.get(phase, 0) for phase in ("completed", "failed"))
    ended = completed + failed
    return TaskStats(
        total_tasks=stats.total,
        by_status=by_status(stats.by_phase),
        success_rate=round(100 * completed / ended, 2) if ended else 0.0,
        avg_response_time_ms=rounded(stats.average_ms),
        total_recrawls=stats.later_generations,
        time_range=time_range,
        avg_duration_seconds={
            status: round(stats.seconds_by_phase[phase], 3)
            for phase, status in STATUSES.items()
            if phase in stats.seconds_by_phase
        },
    )
