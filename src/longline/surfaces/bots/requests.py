"""Requests of the bot-pull contract: bodies and headers."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.bots.bot import NewBot
from longline.model.bots.bot_policy import BotPolicyRow, NewBotPolicy
from longline.model.bots.bot_task import BotFinding
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.ids import new_id
from longline.services.bots.access import BotCredentials
from longline.services.bots.pulls import PullOrder
from longline.services.bots.submits import Submission
from longline.surfaces.bots import errors
from longline.surfaces.bots.field_types import (
    MAX_INT,
    MAX_JOBS,
    NOT_BLANK,
    BatchSize,
    BotId,
    Currency,
    HostNames,
    IdempotencyKey,
    JobId,
    JobIds,
    Moment,
    PositiveInt,
    Price,
    Priority,
    Retries,
    Success,
    Text,
    Url,
    UrlPattern,
    Urls,
)
from longline.surfaces.bots.job_statuses import stored_priority
from longline.surfaces.field_problems import Problem

MAX_ERROR_CHARS = 500
IsEnabledPolicy = Annotated[bool, Meta(description="Whether jobs are made of the policy.")]

FIELDS_OF_SUCCESS = frozenset({"price", "currency", "title", "in_stock", "raw_html", "parsed_data"})
"""Fields of a submit that are read only with a result."""

_encode = msgspec.json.Encoder(decimal_format="number").encode


# -- requests of bots -------------------------------------------------------------------------------------------


class BotRequest(msgspec.Struct, kw_only=True):
    """The part that all requests of bots have."""

    bot_id: BotId
    api_token: Annotated[Text, Meta(description="The bot's token, unless it is sent as a bearer token.")] | None = None

    def credentials(self, bearer: str | None) -> BotCredentials:
        """Return the calling bot; its token may be in the body or in the Authorization header."""
        return BotCredentials(self.bot_id, self.api_token or bearer)


class PullRequest(BotRequest, kw_only=True):
    """A request for jobs."""

    max_jobs: Annotated[int, Meta(ge=1, le=MAX_JOBS, description="Most jobs to pull.")] | None = 10
    domain: Annotated[Text, Meta(max_length=255, description="Part of the host's name, in any case.")] | None = None
    hosts: (
        Annotated[HostNames, Meta(description="Whole host names; `*.shop.example` for all hosts below shop.example.")]
        | None
    ) = None

    def order(self) -> PullOrder:
        """Return the number of jobs and the hosts that the bot requests."""
        limit = 10 if self.max_jobs is None else self.max_jobs
        return PullOrder(limit, (self.domain or "").strip(), list(self.hosts or ()))


class HeartbeatRequest(BotRequest, kw_only=True):
    """A request to extend the lock on a job."""

    job_id: JobId


class SubmitRequest(BotRequest, kw_only=True):
    """The outcome of a job: a result, or an error."""

    job_id: JobId
    success: Success
    price: Annotated[Price, Meta(description="Required for a success; at most two decimal places.")] | None = None
    currency: Annotated[Currency, Meta(description="Required for a success; stored in upper case.")] | None = None
    title: Annotated[Text, Meta(max_length=500, description="Name of the product.")] | None = None
    in_stock: Annotated[bool, Meta(description="Whether the product is in stock.")] | None = True
    raw_html: Annotated[str, Meta(description="Text of the page.")] | None = None
    parsed_data: Annotated[dict[str, Any], Meta(description="Any other data of the result.")] | None = None
    error_msg: Annotated[str, Meta(description="Reason of a failure; 500 characters are kept.")] | None = None

    def __post_init__(self) -> None:
        if self.success and (self.price is None or self.currency is None):
            raise ValueError(errors.BOTH_NEEDED)

    @classmethod
    def ignored_fields(cls, sent: Mapping[str, Any]) -> Collection[str]:
        """Return the fields that belong to the other outcome."""
        if sent.get("success") is not True:
            return FIELDS_OF_SUCCESS
        if sent.get("price") is None or sent.get("currency") is None:
            return ("error_msg", "price", "currency")
        return ("error_msg",)

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the problem of a result without price or currency."""
        if sent.get("success") is True and (sent.get("price") is None or sent.get("currency") is None):
            yield Problem(errors.NO_FIELD, "check", errors.BOTH_NEEDED)

    def submission(self, key: str | None) -> Submission:
        """Return the outcome; `key` makes the submit idempotent."""
        task = str(self.job_id)
        if self.success:
            return Submission(task, self._finding(), self.raw_html, key=key)
        error = (self.error_msg or "").replace("\x00", "").strip()
        return Submission(task, error=error[:MAX_ERROR_CHARS] or "Unknown error", key=key)

    def _finding(self) -> BotFinding:
        assert self.price is not None
        return BotFinding(
            uid=new_id(),
            price=int(self.price),
            currency=str(self.currency),
            title=self.title or "",
            in_stock=self.in_stock is not False,
            data=json_text(self.parsed_data) if self.parsed_data else "{}",
        )


class SubmitHeaders(msgspec.Struct, frozen=True, rename={"idempotency_key": "Idempotency-Key"}):
    """The headers of a submit."""

    idempotency_key: (
        Annotated[IdempotencyKey, Meta(description="A repeat with the same key gets the first answer for 24 hours.")]
        | None
    ) = None


def json_text(value: Any) -> str:
    """Return JSON to be stored; decimal numbers keep every digit."""
    return _encode(value).decode()


# -- requests of admins: policies -------------------------------------------------------------------------------

Hours = Annotated[PositiveInt, Meta(description="Hours from a success to the next job.")]
BackoffMinutes = Annotated[PositiveInt, Meta(description="Minutes to the next job after a failed one.")]
LockMinutes = Annotated[PositiveInt, Meta(description="Minutes for which a bot holds the lock on a job.")]
Config = Annotated[dict[str, Any], Meta(description="Settings for the bot, such as headers.")]
Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=NOT_BLANK)]


class _PolicySubject(msgspec.Struct, kw_only=True):
    """The URL of a policy, or the domain, name and URL pattern of one."""

    url: Url | None = None
    domain: Annotated[Name, Meta(description="Domain whose known URLs are crawled.")] | None = None
    name: Annotated[Name, Meta(description="Name of the policy within its domain.")] | None = None
    url_pattern: UrlPattern | None = None

    def subject(self) -> dict[str, str]:
        """Return the given fields in their stored form."""
        sent = {"url": self.url, "domain": self.domain, "name": self.name, "pattern": self.url_pattern}
        found = {name: value.strip() for name, value in sent.items() if value is not None}
        return found | ({"domain": found["domain"].lower()} if "domain" in found else {})


class NewPolicy(_PolicySubject, kw_only=True):
    """A policy to be made, for one URL or for the known URLs of a domain."""

    frequency_hours: Hours = 24
    priority: Priority = 5
    max_retries: Retries = 3
    retry_backoff_minutes: BackoffMinutes = 5
    timeout_minutes: LockMinutes = 10
    enabled: IsEnabledPolicy = True
    next_run_at: Annotated[Moment, Meta(description="Due time; now unless given.")] | UnsetType = UNSET
    crawl_config: Config = msgspec.field(default_factory=dict)

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the problem of a policy with two subjects or none, or with a name that does not fit its subject."""
        if (sent.get("url") is None) == (sent.get("domain") is None):
            yield Problem(errors.NO_FIELD, "check", errors.ONE_NEEDED)
        elif sent.get("url") is not None and _is_text(sent.get("name")):
            yield Problem("name", "check", errors.OTHER_FORM)
        elif sent.get("domain") is not None and sent.get("name") is None:
            yield Problem("name", "null" if "name" in sent else "missing")

    def policy(self, now: int) -> NewBotPolicy:
        """Return the policy in its stored form; `now` is its due time unless it has one."""
        return NewBotPolicy(
            uid=new_id(),
            interval_ms=self.frequency_hours * HOUR_MS,
            priority=stored_priority(self.priority),
            max_retries=self.max_retries,
            backoff_ms=self.retry_backoff_minutes * MINUTE_MS,
            lease_ms=self.timeout_minutes * MINUTE_MS,
            enabled=self.enabled,
            next_due=now if self.next_run_at is UNSET else int(self.next_run_at),
            config=json_text(self.crawl_config),
            **self.subject(),
        )


class PolicyChange(_PolicySubject, kw_only=True):
    """Changes of a policy, which keeps its form: one URL, or a domain."""

    frequency_hours: Hours | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    max_retries: Retries | UnsetType = UNSET
    retry_backoff_minutes: BackoffMinutes | UnsetType = UNSET
    timeout_minutes: LockMinutes | UnsetType = UNSET
    enabled: IsEnabledPolicy | UnsetType = UNSET
    next_run_at: Annotated[Moment, Meta(description="Due time.")] | UnsetType = UNSET
    crawl_config: Config | UnsetType = UNSET

    def changes(self) -> dict[str, Any]:
        """Return the sent fields in their stored form."""
        stored = {
            "interval_ms": _times(self.frequency_hours, HOUR_MS),
            "priority": UNSET if self.priority is UNSET else stored_priority(self.priority),
            "max_retries": self.max_retries,
            "backoff_ms": _times(self.retry_backoff_minutes, MINUTE_MS),
            "lease_ms": _times(self.timeout_minutes, MINUTE_MS),
            "enabled": self.enabled,
            "next_due": _times(self.next_run_at, 1),
            "config": UNSET if self.crawl_config is UNSET else json_text(self.crawl_config),
        }
        return {name: value for name, value in stored.items() if value is not UNSET} | self.subject()


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _times(value: int | UnsetType, unit: int) -> int | UnsetType:
    return UNSET if value is UNSET else value * unit


def form_problems(row: BotPolicyRow, sent: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of changes that belong to the other form of policies."""
    for name in ("domain", "name", "url_pattern") if row.url else ("url",):
        if sent.get(name) is not None:
            yield Problem(name, "check", errors.OTHER_FORM)


class CreateJobsRequest(msgspec.Struct):
    """A pass over due policies."""

    limit: BatchSize = 1000
    dry_run: Annotated[bool, Meta(description="Count only, change nothing.")] = False


class KnownUrls(msgspec.Struct):
    """URLs over which the policies of their domains are spread."""

    urls: Urls


# -- requests of admins: jobs -----------------------------------------------------------------------------------


class NewJob(msgspec.Struct):
    """A job without a policy."""

    url: Url
    priority: Priority = 5
    max_retries: Retries = 3
    timeout_minutes: LockMinutes = 10


class RepairRequest(msgspec.Struct):
    """Jobs to be repaired."""

    ids: JobIds


class ExpireLocksRequest(msgspec.Struct):
    """A pass over lapsed locks."""

    auto_retry: Annotated[bool, Meta(description="Make jobs pending at the price of a retry.")] = False
    limit: BatchSize = 1000
    dry_run: Annotated[bool, Meta(description="Count only, change nothing.")] = False


# -- requests of admins: bots -----------------------------------------------------------------------------------

Title = Annotated[Text, Meta(max_length=255, description="Name for people.")]
Description = Annotated[Text, Meta(max_length=4000, description="Text for people.")]
IsEnabledBot = Annotated[bool, Meta(description="Whether the bot may pull and submit.")]
PullLimit = Annotated[int, Meta(ge=1, le=MAX_JOBS, description="Most jobs in one pull.")]
LockSeconds = Annotated[int, Meta(ge=0, le=MAX_INT, description="Seconds of this bot's locks; 0 or null: the job's.")]
RateLimit = Annotated[int, Meta(ge=0, le=MAX_INT, description="Requests per minute; 0 or null for any number.")]
Boost = Annotated[int, Meta(ge=-10, le=10, description="Added to the priority that the bot sees.")]
Domains = Annotated[list[str], Meta(description="Domains whose jobs the bot may pull; empty for all.")]
TokenEnd = Annotated[Moment, Meta(description="Time at which the token expires; null for never.")]


class NewBotRequest(msgspec.Struct, kw_only=True):
    """A bot to be registered."""

    bot_id: BotId
    name: Title = ""
    description: Description = ""
    enabled: IsEnabledBot = True
    max_jobs_per_pull: PullLimit = 10
    custom_lock_ttl_seconds: LockSeconds | None = None
    rate_limit_per_minute: RateLimit | None = 60
    priority_boost: Boost = 0
    allowed_domains: Domains = msgspec.field(default_factory=list)
    token_expires_at: TokenEnd | None = None

    def bot(self) -> NewBot:
        """Return the bot in its stored form."""
        lock_seconds, until = self.custom_lock_ttl_seconds, self.token_expires_at
        return NewBot(
            name=self.bot_id,
            title=self.name,
            description=self.description,
            enabled=self.enabled,
            max_pull=self.max_jobs_per_pull,
            lease_ms=None if lock_seconds is None else lock_seconds * 1000,
            per_minute=self.rate_limit_per_minute,
            boost=self.priority_boost,
            domains=_domains(self.allowed_domains),
            secret_until=None if until is None else int(until),
        )


class BotChange(msgspec.Struct, kw_only=True):
    """Changes of a registered bot."""

    name: Title | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    enabled: IsEnabledBot | UnsetType = UNSET
    max_jobs_per_pull: PullLimit | UnsetType = UNSET
    custom_lock_ttl_seconds: LockSeconds | UnsetType | None = UNSET
    rate_limit_per_minute: RateLimit | UnsetType | None = UNSET
    priority_boost: Boost | UnsetType = UNSET
    allowed_domains: Domains | UnsetType = UNSET
    token_expires_at: TokenEnd | UnsetType | None = UNSET

    def changes(self) -> dict[str, Any]:
        """Return the sent fields in their stored form."""
        lock_seconds, until = self.custom_lock_ttl_seconds, self.token_expires_at
        stored = {
            "title": self.name,
            "description": self.description,
            "enabled": self.enabled,
            "max_pull": self.max_jobs_per_pull,
            "lease_ms": lock_seconds * 1000 if isinstance(lock_seconds, int) else lock_seconds,
            "per_minute": self.rate_limit_per_minute,
            "boost": self.priority_boost,
            "domains": UNSET if self.allowed_domains is UNSET else _domains(self.allowed_domains),
            "secret_until": int(until) if isinstance(until, int) else until,
        }
        return {name: value for name, value in stored.items() if value is not UNSET}


def _domains(sent: list[str]) -> str:
    domains = (domain.strip().lower() for domain in sent)
    return json_text([domain for domain in domains if domain])
