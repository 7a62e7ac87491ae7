"""Pages of bots: their activity, a token that is shown once, their policies and their results."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from longline.console.actions import acted, long_texts
from longline.console.error_pages import wrong_fields
from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.bots.bot import MAX_NAME_CHARS, MAX_TITLE_CHARS, NewBot
from longline.model.bots.bot_policy import PolicyFilter
from longline.services.bots.bots import BotRegistry
from longline.services.bots.policies import BotPolicies
from longline.services.bots.tasks import BotTasks
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50

_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.-]+")
"""Names `.` and `..` are none: browsers resolve them in the addresses of a bot's actions (RFC 3986, section 5.2.4)."""

_LIMITS = {"name": MAX_NAME_CHARS, "title": MAX_TITLE_CHARS}


class BotPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of bots."""

    pages: Pages
    registry: BotRegistry
    tasks: BotTasks
    policies: BotPolicies


class BotListQuery(msgspec.Struct, frozen=True):
    """The place in the list of bots: the name of the last one that was shown."""

    after: Annotated[str, msgspec.Meta(max_length=200)] = ""


class PolicyListQuery(msgspec.Struct, frozen=True):
    """The place in the list of policies: the number of the last one that was shown."""

    before: int | None = None


class ResultListQuery(msgspec.Struct, frozen=True):
    """The place in the list of results: the id of the last one that was shown."""

    before: Annotated[str, msgspec.Meta(max_length=100)] = ""


class BotForm(msgspec.Struct, frozen=True):
    """The form of a bot."""

    name: str = ""
    title: str = ""

    def bot(self) -> NewBot:
        """Return the bot to be registered; raise `InvalidRequest` with every wrong field."""
        problems = long_texts(self, _LIMITS)
        if not _NAME.fullmatch(self.name.strip()):
            problems.append(Problem("name", "check", "A bot needs a name of letters, digits, . _ and -."))
        if problems:
            raise InvalidRequest(problems)
        return NewBot(name=self.name.strip(), title=self.title.strip())


@operation("GET", "/console/bots", "Show bots", access="reader")
async def show_bots(services: BotPageServices, query: BotListQuery, identity: Visitor) -> ApiResponse[Any]:
    return await _bots(services, identity, query.after)


async def _bots(
    services: BotPageServices,
    visitor: Visitor,
    after: str = "",
    given: BotForm | None = None,
    problems: Mapping[str, str] | None = None,
) -> ApiResponse[Any]:
    figures = await services.tasks.recent_activity()
    bots, last = page_of(await services.registry.find(limit=PAGE_SIZE + 1, after=after), PAGE_SIZE)
    return services.pages.page(
        "bots/list.html",
        visitor,
        section="bots",
        is_refusal=bool(problems),
        bots=bots,
        figures=figures,
        activity={one.name: one for one in figures.bots},
        older=None if last is None else last.name,
        given=given or BotForm(),
        problems=problems or {},
    )


@operation("POST", "/console/bots", "Register a bot", access="action", action="bot.register")
async def register_bot(services: BotPageServices, body: BotForm, identity: Visitor) -> ApiResponse[Any]:
    try:
        made = await services.registry.register(body.bot())
    except InvalidRequest as error:
        return await _bots(services, identity, given=body, problems=dict(wrong_fields(error)))
    if made is None:
        return await _bots(services, identity, given=body, problems={"name": f"The name {body.name} is taken."})
    return _token(services, identity, made[0].name, made[1])


@operation("POST", "/console/bots/{name}/token", "Replace the token", access="action", action="bot.rotate_token")
async def rotate_token(services: BotPageServices, name: str, identity: Visitor) -> ApiResponse[Any]:
    row, token = await services.registry.rotate(name)
    return _token(services, identity, row.name, token)


def _token(services: BotPageServices, visitor: Visitor, name: str, token: str) -> ApiResponse[Any]:
    """Return the page with a new token, which no other page shows."""
    return services.pages.page("bots/token.html", visitor, section="bots", name=name, token=token)


@operation("POST", "/console/bots/{name}/enable", "Enable a bot", access="action", action="bot.change")
async def enable_bot(services: BotPageServices, name: str) -> ApiResponse[Any]:
    await services.registry.change(name, enabled=True)
    return acted("/console/bots", f"Bot {name} is enabled.")


@operation("POST", "/console/bots/{name}/disable", "Disable a bot", access="action", action="bot.change")
async def disable_bot(services: BotPageServices, name: str) -> ApiResponse[Any]:
    await services.registry.change(name, enabled=False)
    return acted("/console/bots", f"Bot {name} is disabled: its requests are refused.")


@operation("GET", "/console/policies", "Show policies", access="reader")
async def show_policies(services: BotPageServices, query: PolicyListQuery, identity: Visitor) -> ApiResponse[Any]:
    found = await services.policies.find(PolicyFilter(before=query.before), limit=PAGE_SIZE + 1)
    policies, last = page_of(found, PAGE_SIZE)
    return services.pages.page(
        "bots/policies.html",
        identity,
        section="policies",
        policies=policies,
        older=None if last is None else last.schedule_id,
    )


@operation("POST", "/console/policies/{uid}/enable", "Enable a policy", access="action", action="schedule.resume")
async def enable_policy(services: BotPageServices, uid: str) -> ApiResponse[Any]:
    await services.policies.change(uid, enabled=True)
    return acted("/console/policies", "The policy is enabled.")


@operation("POST", "/console/policies/{uid}/disable", "Disable a policy", access="action", action="schedule.pause")
async def disable_policy(services: BotPageServices, uid: str) -> ApiResponse[Any]:
    await services.policies.change(uid, enabled=False)
    return acted("/console/policies", "The policy is disabled: it makes no tasks.")


@operation("GET", "/console/results", "Show results", access="reader")
async def show_results(services: BotPageServices, query: ResultListQuery, identity: Visitor) -> ApiResponse[Any]:
    results, last = page_of(await services.tasks.newest_results(query.before or None, PAGE_SIZE + 1), PAGE_SIZE)
    return services.pages.page(
        "bots/results.html",
        identity,
        section="results",
        results=results,
        older=None if last is None else last.uid,
    )


BOT_PAGES = (
    *(show_bots, register_bot, rotate_token, enable_bot, disable_bot),
    *(show_policies, enable_policy, disable_policy, show_results),
)
