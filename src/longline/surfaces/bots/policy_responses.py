"""Responses about policies, and their making from rows of schedules."""

import msgspec
from msgspec import Raw

from longline.model.bots.bot_policy import BotPolicyRow
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.states import ScheduleState
from longline.surfaces.bots.field_types import JsonObject, Time, Uri, Uuid, optional_time, time_text
from longline.surfaces.bots.job_statuses import shown_priority


class BotPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy; fields of the other form, URL or domain, are null."""

    id: Uuid
    url: Uri | None
    domain: str | None
    name: str | None
    url_pattern: str | None
    frequency_hours: int
    priority: int
    max_retries: int
    retry_backoff_minutes: int
    timeout_minutes: int
    enabled: bool
    next_run_at: Time
    last_success_at: Time | None
    last_failed_at: Time | None
    failure_count: int
    crawl_config: JsonObject
    created_at: Time
    updated_at: Time


class PolicyPage(msgspec.Struct, frozen=True):
    """A page of policies, newest first."""

    policies: list[BotPolicy]
    count: int
    limit: int
    offset: int


class CreatedJobs(msgspec.Struct, frozen=True):
    """Counts of a pass over due policies."""

    created: int
    skipped: int


class AddedUrls(msgspec.Struct, frozen=True):
    """The number of URLs that were not known before."""

    added: int


def policy_of(row: BotPolicyRow) -> BotPolicy:
    """Return a policy with all its fields."""
    return BotPolicy(
        id=row.uid,
        url=row.url,
        domain=row.domain,
        name=row.name,
        url_pattern=row.pattern if row.domain else None,
        frequency_hours=row.interval_ms // HOUR_MS,
        priority=shown_priority(row.priority),
        max_retries=row.max_retries,
        retry_backoff_minutes=row.backoff_ms // MINUTE_MS,
        timeout_minutes=row.lease_ms // MINUTE_MS,
        enabled=row.state == ScheduleState.SCHEDULED,
        next_run_at=time_text(row.next_due),
        last_success_at=optional_time(row.last_success_at),
        last_failed_at=optional_time(row.last_failed_at),
        failure_count=row.failures,
        crawl_config=Raw(row.config.encode()),
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
    )
