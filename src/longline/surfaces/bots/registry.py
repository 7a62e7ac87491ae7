"""`/api/crawl/admin/bots`: the registry of bots, for admins."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Raw, structs

from longline.model.bots.bot import BotRow
from longline.services.bots.registry import BotRegistry
from longline.surfaces.bots import examples
from longline.surfaces.bots import statuses_and_errors as words
from longline.surfaces.bots.paths import ADMIN
from longline.surfaces.bots.queries import BotPageQuery
from longline.surfaces.bots.requests import BotChange, NewBotRequest
from longline.surfaces.bots.responses import (
    BotPage,
    BotWithToken,
    RegisteredBot,
    optional_time,
    share,
    time_text,
)
from longline.surfaces.operation import ApiFailure, operation

BotPathId = Annotated[str, Meta(description="Id of the bot.")]


@dataclass(frozen=True, slots=True)
class RegistryServices:
    """The registry of bots."""

    registry: BotRegistry


@operation(
    "GET",
    f"{ADMIN}/bots",
    "List bots",
    access="admin",
    errors=(words.INVALID_LIMIT,),
    response_example=examples.BOTS,
)
async def list_bots(services: RegistryServices, query: BotPageQuery) -> BotPage:
    rows = await services.registry.find(limit=query.limit, offset=query.offset)
    return BotPage([bot_of(row) for row in rows], len(rows), query.limit, query.offset)


@operation(
    "POST",
    f"{ADMIN}/bots",
    "Register a bot",
    access="admin",
    status=201,
    errors=(words.INVALID_BOT_ID, words.TAKEN_BOT),
    request_example=examples.NEW_BOT,
    response_example=examples.BOT_WITH_TOKEN,
    action="bot.register",
)
async def register_bot(services: RegistryServices, body: NewBotRequest) -> BotWithToken:
    """Register a bot. No later response shows its token."""
    made = await services.registry.register(body.bot())
    if made is None:
        raise ApiFailure(words.TAKEN_BOT)
    return _with_token(*made)


@operation(
    "GET",
    f"{ADMIN}/bots/{{id}}",
    "Show a bot",
    access="admin",
    errors=(words.NO_BOT,),
    response_example=examples.BOT,
)
async def show_bot(services: RegistryServices, id: BotPathId) -> RegisteredBot:
    return bot_of(await services.registry.get(id))


@operation(
    "PATCH",
    f"{ADMIN}/bots/{{id}}",
    "Change a bot",
    access="admin",
    errors=(words.INVALID_PULL_LIMIT, words.NO_BOT),
    request_example=examples.BOT_CHANGE,
    response_example=examples.BOT,
    action="bot.change",
)
async def change_bot(services: RegistryServices, id: BotPathId, body: BotChange) -> RegisteredBot:
    return bot_of(await services.registry.change(id, **body.changes()))


@operation(
    "POST",
    f"{ADMIN}/bots/{{id}}/rotate-token",
    "Replace the token of a bot",
    access="admin",
    errors=(words.NO_BOT,),
    response_example=examples.BOT_WITH_TOKEN,
    action="bot.rotate_token",
)
async def rotate_token(services: RegistryServices, id: BotPathId) -> BotWithToken:
    """Make a new token; the old one is invalid at once."""
    return _with_token(*await services.registry.rotate(id))


@operation(
    "POST",
    f"{ADMIN}/bots/{{id}}/reset-statistics",
    "Reset the figures of a bot",
    access="admin",
    errors=(words.NO_BOT,),
    response_example=examples.BOT,
    action="bot.reset",
)
async def reset_statistics(services: RegistryServices, id: BotPathId) -> RegisteredBot:
    return bot_of(await services.registry.reset(id))


REGISTRY_OPERATIONS = (list_bots, register_bot, show_bot, change_bot, rotate_token, reset_statistics)


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


def _with_token(row: BotRow, token: str) -> BotWithToken:
    return BotWithToken(**structs.asdict(bot_of(row)), api_token=token)
