"""Responses about registered bots, and their making from rows."""

import msgspec
from msgspec import Raw, structs

from longline.model.bots.bot import BotRow
from longline.surfaces.bots.field_types import JsonStrings, PercentShare, Time, optional_time, share, time_text


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


class BotPage(msgspec.Struct, frozen=True):
    """A page of bots, ordered by name."""

    bots: list[RegisteredBot]
    count: int
    limit: int
    offset: int


def bot_of(row: BotRow) -> RegisteredBot:
    """Return a bot with its figures."""
    return RegisteredBot(
        bot_id=row.name,
        name=row.title,
        description=row.description,
        token_preview=row.preview,
        enabled=row.enabled,
        max_jobs_per_pull=row.max_pull,
        custom_lock_ttl_seconds=None if row.lease_ms is None else row.lease_ms // 1000,
        rate_limit_per_minute=row.per_minute,
        priority_boost=row.boost,
        allowed_domains=Raw(row.domains.encode()),
        total_jobs_pulled=row.pulled,
        total_jobs_completed=row.completed,
        total_jobs_failed=row.failed,
        success_rate=share(row.completed, row.failed),
        last_pull_at=optional_time(row.last_pull_at),
        last_submit_at=optional_time(row.last_submit_at),
        token_expires_at=optional_time(row.secret_until),
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
    )


def with_token(row: BotRow, token: str) -> BotWithToken:
    return BotWithToken(**structs.asdict(bot_of(row)), api_token=token)
