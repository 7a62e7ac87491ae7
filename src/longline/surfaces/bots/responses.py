"""Responses of the bot-pull contract."""

from decimal import Decimal
from time import gmtime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from longline.surfaces.bots.statuses_and_errors import JobStatus

LATEST_MS = 253_402_300_799_000
"""Last second with a four-digit year, in milliseconds; later times are shown as this one."""

Uuid = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
JsonObject = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
JsonStrings = Annotated[Raw, Meta(extra_json_schema={"type": "array", "items": {"type": "string"}})]
PercentShare = Annotated[float, Meta(description="In per cent.")]


# -- responses to bots ------------------------------------------------------------------------------------------


class PulledJob(msgspec.Struct, frozen=True):
    """A job that is locked for the bot."""

    job_id: Uuid
    url: Uri
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: Time


class PulledJobs(msgspec.Struct, frozen=True):
    """The jobs of a pull. `skipped` counts jobs of the same hosts that other bots hold."""

    jobs: list[PulledJob]
    count: int
    skipped: int


class AcceptedResult(msgspec.Struct, frozen=True):
    """A result that was stored."""

    result_id: Uuid
    job_id: Uuid
    status: JobStatus
    price: Decimal
    currency: str
    policy_next_run: Time | None


class AcceptedFailure(msgspec.Struct, frozen=True):
    """A failure that was stored; `error` is sent when no retry is left."""

    job_id: Uuid
    status: JobStatus
    retry_count: int
    max_retries: int
    error: str | UnsetType = UNSET
    message: Literal["Job marked for retry", "Retries exhausted"] = "Job marked for retry"


class ExtendedLock(msgspec.Struct, frozen=True):
    """A lock that runs anew."""

    job_id: Uuid
    status: Literal["locked"]
    locked_until: Time


# -- responses to admins: lists and passes ----------------------------------------------------------------------


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


class BotJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job; `policy_id` is null for a job without a policy."""

    id: Uuid
    policy_id: Uuid | None
    url: Uri
    status: JobStatus
    priority: int
    max_retries: int
    timeout_minutes: int
    lock_ttl_seconds: int
    locked_by: str | None
    locked_at: Time | None
    locked_until: Time | None
    retry_count: int
    last_error: str | None
    last_result_at: Time | None
    expiry_count: Annotated[int, Meta(description="Pulls of the job after a lock on it had expired.")]
    created_at: Time
    updated_at: Time


class BotResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result without the text of its page."""

    id: Uuid
    job_id: Uuid
    url: Uri
    price: Decimal
    currency: str
    title: str
    in_stock: bool
    parsed_data: JsonObject
    crawled_at: Time
    created_at: Time


class BotJobDetail(BotJob, frozen=True, kw_only=True):
    """A job with its result."""

    result: BotResult | None


class BotResultDetail(BotResult, frozen=True, kw_only=True):
    """A result with the text of its page, if the bot sent one."""

    raw_html: str | None


class RegisteredBot(msgspec.Struct, frozen=True, kw_only=True):
    """A bot with its figures, and only the beginning of its token."""

    bot_id: str
    name: str
    description: str
    token_preview: str
    enabled: bool
    max_jobs_per_pull: int
    custom_lock_ttl_seconds: int | None
    rate_limit_per_minute: int | None
    priority_boost: int
    allowed_domains: JsonStrings
    total_jobs_pulled: int
    total_jobs_completed: int
    total_jobs_failed: int
    success_rate: PercentShare
    last_pull_at: Time | None
    last_submit_at: Time | None
    token_expires_at: Time | None
    created_at: Time
    updated_at: Time


class BotWithToken(RegisteredBot, frozen=True, kw_only=True):
    """A bot with its token, which is shown once."""

    api_token: str


class PolicyPage(msgspec.Struct, frozen=True):
    """A page of policies, newest first."""

    policies: list[BotPolicy]
    count: int
    limit: int
    offset: int


class JobPage(msgspec.Struct, frozen=True):
    """A page of jobs, newest first."""

    jobs: list[BotJob]
    count: int
    limit: int
    offset: int


class ResultPage(msgspec.Struct, frozen=True):
    """A page of results, newest first."""

    results: list[BotResult]
    count: int
    limit: int
    offset: int


class BotPage(msgspec.Struct, frozen=True):
    """A page of bots, ordered by name."""

    bots: list[RegisteredBot]
    count: int
    limit: int
    offset: int


class DeletedRow(msgspec.Struct, frozen=True):
    """The id of a deleted policy or job."""

    id: str
    deleted: Literal[True]


class CreatedJobs(msgspec.Struct, frozen=True):
    """Counts of a pass over due policies."""

    created: int
    skipped: int


class ExpiredLocks(msgspec.Struct, frozen=True):
    """Counts of a pass over lapsed locks."""

    expired: int
    requeued: int
    failed: int


class AddedUrls(msgspec.Struct, frozen=True):
    """The number of URLs that were not known before."""

    added: int


class RepairedJobs(msgspec.Struct, frozen=True):
    """The number of jobs that a repair changed."""

    changed: int


# -- responses to admins: figures -------------------------------------------------------------------------------


class JobCounts(msgspec.Struct, frozen=True):
    """The number of jobs of each status."""

    pending: int = 0
    locked: int = 0
    done: int = 0
    failed: int = 0
    expired: int = 0


class ActiveBot(msgspec.Struct, frozen=True, kw_only=True):
    """The activity of a bot in the present clock hour and the one before, and in all."""

    bot_id: str
    enabled: bool
    registered: bool
    pulls_per_hour: int
    jobs_pulled_per_hour: int
    total_jobs_pulled: int
    total_jobs_completed: int
    total_jobs_failed: int
    success_rate: PercentShare
    last_pull_at: Time | None
    last_submit_at: Time | None


class PolicyCounts(msgspec.Struct, frozen=True):
    """Numbers of policies, and the next due time."""

    total: int
    enabled: int
    due: int
    failing: int
    next_due: Time | None


class DashboardFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of jobs, bots and policies; the keys of the histogram are numbers of retries."""

    jobs: JobCounts
    retry_histogram: dict[str, int]
    jobs_pulled_per_hour: int
    retry_rate: PercentShare
    bot_activity: list[ActiveBot]
    policies: PolicyCounts


# -- values -----------------------------------------------------------------------------------------------------


def time_text(at: int) -> str:
    """Return a time in the contract's format."""
    # Three times as fast as the text of a datetime; a pull has a time in every job.
    seconds, milliseconds = divmod(min(at, LATEST_MS), 1000)
    year, month, day, hour, minute, second = gmtime(seconds)[:6]
    fraction = f".{milliseconds:03}" if milliseconds else ""
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"


def optional_time(at: int | None) -> str | None:
    """Return a time in the contract's format, None for None."""
    return None if at is None else time_text(at)


def amount(hundredths: int) -> Decimal:
    """Return an amount of money as a number with two places."""
    return Decimal(hundredths).scaleb(-2)


def share(part: int, other: int) -> float:
    """Return the share of `part` in per cent; 0.0 if both are zero."""
    return round(part / (part + other) * 100, 2) if part + other else 0.0
