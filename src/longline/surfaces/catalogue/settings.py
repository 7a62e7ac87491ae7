"""`/api/v1/admin/settings`: settings of this API, kept in the database, and the maintenance mode."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.callers.caller import Caller, NotAllowed
from longline.model.callers.door_setting import KEY_TEXT
from longline.services.callers.door_settings import DoorSettings, UnderMaintenance
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import NO_NUL, PageNumber, Text
from longline.surfaces.catalogue.setting_responses import Setting, shown_setting
from longline.surfaces.door import Access, HttpRequest
from longline.surfaces.operation import operation

SettingKey = Annotated[str, Meta(pattern=NO_NUL, description="The key, words with dots between them.")]


@dataclass(frozen=True, slots=True)
class SettingServices:
    """The settings of this API."""

    settings: DoorSettings


class SettingRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The value of a setting; an absent description keeps the present one."""

    value: Annotated[str, Meta(max_length=10_000, pattern=NO_NUL, description="The value.")] | None
    description: Annotated[str, Meta(max_length=2000, pattern=NO_NUL, description="Its purpose.")] | None = None


class SettingQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of settings."""

    q: Annotated[Text, Meta(description="The begin of the keys.")] = ""
    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=500, description="Entries of the page.")] = 100


@operation("GET", "/api/v1/admin/settings", "List settings", access="admin", response_example=examples.SETTINGS)
async def list_settings(services: SettingServices, query: SettingQuery) -> Listed[Setting]:
    rows, total = await services.settings.find(query.q, query.limit, (query.page - 1) * query.limit)
    return listed([shown_setting(row) for row in rows], query.page, query.limit, total)


@operation(
    "GET",
    "/api/v1/admin/settings/{key}",
    "Get a setting",
    access="admin",
    errors=[errors.NO_SETTING],
    response_example=examples.SETTING,
)
async def get_setting(services: SettingServices, key: SettingKey) -> Setting:
    return shown_setting(await services.settings.get(key))


@operation(
    "PUT",
    "/api/v1/admin/settings/{key}",
    "Set a value",
    access="admin",
    errors=[errors.invalid(KEY_TEXT)],
    action="door setting.update",
    request_example={"value": "3"},
    response_example=examples.SETTING,
)
async def put_setting(services: SettingServices, key: SettingKey, body: SettingRequest) -> Setting:
    return shown_setting(await services.settings.put(key, body.value, body.description))


@operation(
    "DELETE",
    "/api/v1/admin/settings/{key}",
    "Remove a setting",
    status=204,
    access="admin",
    errors=[errors.NO_SETTING],
    action="door setting.delete",
)
async def delete_setting(services: SettingServices, key: SettingKey) -> None:
    await services.settings.remove(key)


SETTING_OPERATIONS = (list_settings, get_setting, put_setting, delete_setting)


def closed_for_maintenance(access: Access, settings: DoorSettings) -> Access:
    """Return an access that raises `UnderMaintenance` for callers without a token, or with a role that is too low.

    A wrong or expired token is refused as ever: its bearer may be an admin.
    """
    check: Callable[[HttpRequest], Awaitable[Caller]] = access.check

    async def checked(request: HttpRequest) -> Caller:
        try:
            return await check(request)
        except (NotAllowed, TokenRefused) as refusal:
            if _may_be_admin(refusal) or not await settings.is_under_maintenance():
                raise
        raise UnderMaintenance("the API is under maintenance")

    return replace(access, check=checked)


def _may_be_admin(refusal: NotAllowed | TokenRefused) -> bool:
    return isinstance(refusal, TokenRefused) and refusal.kind != "missing"
