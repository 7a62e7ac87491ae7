"""Requests about tasks and batches."""

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from longline.model.callers.caller import Caller
from longline.model.duration import DAY_MS, HOUR_MS
from longline.model.recrawls.recrawl import PRIORITY_STEP
from longline.model.recrawls.recrawl_lists import RecrawlQuery, SortField
from longline.services.recrawls.recrawls import RecrawlOrder
from longline.surfaces.products.field_types import (
    NO_NUL,
    NOT_BLANK,
    BatchId,
    DomainId,
    Frequency,
    IsoTime,
    PagedQuery,
    Priority,
    TaskId,
    TaskStatus,
    Text,
    WebUrl,
    url_problem,
)
from longline.surfaces.products.tasks.task_statuses import PHASES_BY_STATUS, WORD_ORDER

MAX_URLS = 10_000
MAX_RESTARTED = 10_000

SortBy = Literal["id", "created_at", "updated_at", "scheduled_at", "completed_at", "priority", "status", "retry_count"]
SORT_FIELDS: dict[SortBy, SortField] = dict(
    zip(
        get_args(SortBy),
        ("id", "created_at", "updated_at", "due_at", "ended_at", "priority", "phase", "retries"),
        strict=True,
    )
)
TimeRange = Literal["1h", "24h", "7d", "30d"]
RANGE_WORDS: dict[TimeRange, tuple[str, int]] = {
    "1h": ("last_1_hour", HOUR_MS),
    "24h": ("last_24_hours", DAY_MS),
    "7d": ("last_7_days", 604_800_000),
    "30d": ("last_30_days", 2_592_000_000),
}

Recurring = Annotated[bool, Meta(description="Whether the page is crawled again after the crawl frequency.")]
Every = Annotated[Frequency, Meta(description="Time between two crawls, such as 12 hours; by default the domain's.")]
MaxRetries = Annotated[int, Meta(ge=0, le=10, description="Retries after a failure.")]
BatchName = Annotated[str, Meta(min_length=1, max_length=255, pattern=NOT_BLANK, description="Name of the batch.")]
ResetRetries = Annotated[bool, Meta(description="Whether the retries are counted from 0 again.")]
WebhookUrl = Annotated[
    str,
    Meta(
        max_length=512,
        pattern=NO_NUL,
        description="Absolute URL that is told the end of the task.",
        extra_json_schema={"format": "uri"},
        extra={"check": url_problem},
    ),
]
AnyUrl = Annotated[Any, Meta(extra_json_schema={"type": "string"})]
"""An entry of a batch: one that is no text is an invalid URL, which fails alone."""
DueTime = Annotated[IsoTime, Meta(description="When the page is fetched, by default at once.")]


def created_by(caller: Caller | None) -> Literal["admin", "api"]:
    """Return the author of tasks: a program with a key is the API, every other caller an admin."""
    return "api" if caller is not None and caller.kind in ("key", "service") else "admin"


class NewTaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A URL to crawl."""

    domain_id: DomainId
    url: WebUrl
    priority: Priority = 5
    scheduled_at: DueTime | None = None
    crawl_frequency: Every | None = None
    is_recurring: Recurring = True
    max_retries: MaxRetries = 3
    batch_id: BatchId | None = None
    webhook_url: WebhookUrl | None = None
    parent_task_id: TaskId | None = None

    def order(self, caller: Caller | None) -> RecrawlOrder:
        """Return the order of a task."""
        return RecrawlOrder(
            source_id=self.domain_id,
            created_by=created_by(caller),
            priority=self.priority,
            due_at=self.scheduled_at,
            frequency=None if self.crawl_frequency is None else str(self.crawl_frequency),
            recurring=self.is_recurring,
            max_retries=self.max_retries,
            batch_id=self.batch_id,
            parent_id=self.parent_task_id,
            webhook=self.webhook_url,
        )


class BatchSubmission(msgspec.Struct, frozen=True, kw_only=True):
    """URLs to crawl; an invalid one fails alone."""

    domain_id: DomainId
    urls: Annotated[list[AnyUrl], Meta(min_length=1, max_length=MAX_URLS, description="Absolute URLs.")]
    priority: Priority = 5
    crawl_frequency: Every | None = None
    is_recurring: Recurring = True
    batch_id: BatchId | None = None

    @property
    def texts(self) -> list[str]:
        """The URLs, an empty text for everything else."""
        return [url if isinstance(url, str) else "" for url in self.urls]

    def order(self, caller: Caller | None) -> RecrawlOrder:
        """Return the order of these tasks."""
        return RecrawlOrder(
            source_id=self.domain_id,
            created_by=created_by(caller),
            priority=self.priority,
            frequency=None if self.crawl_frequency is None else str(self.crawl_frequency),
            recurring=self.is_recurring,
            batch_id=self.batch_id,
        )


class TaskQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter, the order and the page of a list of tasks."""

    domain_id: DomainId | None = None
    status: Annotated[TaskStatus, Meta(description="Tasks with this status.")] | None = None
    priority_min: Priority | None = None
    priority_max: Priority | None = None
    created_after: Annotated[IsoTime, Meta(description="Tasks that were made at this time or later.")] | None = None
    created_before: Annotated[IsoTime, Meta(description="Tasks that were made at this time or before.")] | None = None
    is_recurring: Annotated[bool, Meta(description="Whether the page is crawled again.")] | None = None
    batch_id: BatchId | None = None
    created_by: Annotated[Text, Meta(description="Maker of the tasks, such as admin or scheduler.")] | None = None
    sort_by: Annotated[SortBy, Meta(description="Field by which tasks are sorted.")] = "created_at"
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] = "desc"

    def filter(self) -> RecrawlQuery:
        """Return the filter and the order."""
        return RecrawlQuery(
            source_id=self.domain_id,
            phase=None if self.status is None else PHASES_BY_STATUS[self.status],
            priority_min=None if self.priority_min is None else self.priority_min * PRIORITY_STEP,
            priority_max=None if self.priority_max is None else self.priority_max * PRIORITY_STEP,
            created_after=self.created_after,
            created_before=self.created_before,
            recurring=self.is_recurring,
            batch_id=self.batch_id,
            created_by=self.created_by,
            sort=SORT_FIELDS[self.sort_by],
            falling=self.sort_order == "desc",
            order=WORD_ORDER,
        )


class RestartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The wishes for a restart."""

    reset_retry_count: ResetRetries = True
    priority: Priority | None = None
    scheduled_at: DueTime | None = None


class ReparseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The wishes for another parse."""

    reset_retry_count: ResetRetries = True


class RestartFailedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The failed tasks to restart, the oldest failures first."""

    domain_id: DomainId | None = None
    failed_after: Annotated[IsoTime, Meta(description="Tasks that failed at this time or later.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_RESTARTED, description="Largest number of tasks.")] = 1000


class PriorityChange(msgspec.Struct, frozen=True, kw_only=True):
    """Another priority."""

    priority: Priority


class StatsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks that are counted, by their creation."""

    domain_id: DomainId | None = None
    time_range: Annotated[TimeRange, Meta(description="Age of the oldest task.")] = "24h"


class NewBatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A batch to make."""

    name: BatchName


class BatchRestart(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of a batch to restart."""

    only_failed: Annotated[bool, Meta(description="Restart failed tasks alone.")] = False
