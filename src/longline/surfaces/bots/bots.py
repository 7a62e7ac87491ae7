"""`/api/crawl/admin/bots`: the registry of bots, for admins."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from longline.services.bots.bots import BotRegistry
from longline.surfaces.bots import ADMIN, errors, examples
from longline.surfaces.bots.bot_responses import BotPage, BotWithToken, RegisteredBot, bot_of, with_token
from longline.surfaces.bots.queries import BotPageQuery
from longline.surfaces.bots.requests import BotChange, NewBotRequest
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
    errors=(errors.INVALID_LIMIT,),
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
    errors=(errors.INVALID_BOT_ID, errors.TAKEN_BOT),
    request_example=examples.NEW_BOT,
    response_example=examples.BOT_WITH_TOKEN,
    action="bot.register",
)
async def register_bot(services: RegistryServices, body: NewBotRequest) -> BotWithToken:
    """Register a bot. No later response shows its token."""
    made = await services.registry.register(body.bot())
    if made is None:
        raise ApiFailure(errors.TAKEN_BOT)
    return with_token(*made)


@operation(
    "GET",
    f"{ADMIN}/bots/{{id}}",
    "Show a bot",
    access="admin",
    errors=(errors.NO_BOT,),
    response_example=examples.BOT,
)
async def show_bot(services: RegistryServices, id: BotPathId) -> RegisteredBot:
    return bot_of(await services.registry.get(id))


@operation(
    "PATCH",
    f"{ADMIN}/bots/{{id}}",
    "Change a bot",
    access="admin",
    errors=(errors.INVALID_PULL_LIMIT, errors.NO_BOT),
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
    errors=(errors.NO_BOT,),
    response_example=examples.BOT_WITH_TOKEN,
    action="bot.rotate_token",
)
async def rotate_token(services: RegistryServices, id: BotPathId) -> BotWithToken:
    """Make a new token; the old one is invalid at once."""
    return with_token(*await services.registry.rotate(id))


@operation(
    "POST",
    f"{ADMIN}/bots/{{id}}/reset-statistics",
    "Reset the figures of a bot",
    access="admin",
    errors=(errors.NO_BOT,),
    response_example=examples.BOT,
    action="bot.reset",
)
async def reset_statistics(services: RegistryServices, id: BotPathId) -> RegisteredBot:
    return bot_of(await services.registry.reset(id))


REGISTRY_OPERATIONS = (list_bots, register_bot, show_bot, change_bot, rotate_token, reset_statistics)
