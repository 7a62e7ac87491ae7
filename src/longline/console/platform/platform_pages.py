"""Pages of the platform: the audit, API keys and the settings in force."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.paging import page_of
from longline.console.template_filters import moment, zone_name
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.api_key import NewApiKey
from longline.model.callers.audit import AuditFilter
from longline.model.callers.roles import Role
from longline.model.errors import BadInput
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.audit_trail import AuditTrail
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50

_TIMES = ("_at", "_due", "_until", "due")
"""Ends of the names of fields with times."""

_FIRST_TIME_MS, _LAST_TIME_MS = 1_000_000_000_000, 10_000_000_000_000
"""Milliseconds between which a number is a time: 2001 to 2286."""

Text = Annotated[str, msgspec.Meta(max_length=200)]


class ShownSetting(msgspec.Struct, frozen=True):
    """A setting in force, with its secrets masked, and its explanation."""

    name: str
    value: str
    help: str


class PlatformPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of the platform; `doors` are the names of the APIs that a key may open."""

    pages: Pages
    audit: AuditTrail
    keys: ApiKeys
    settings: Sequence[ShownSetting]
    doors: Sequence[str]


class ShownAuditQuery(msgspec.Struct, frozen=True):
    """The filters of the audit, and the place in it."""

    noun: Text = ""
    thing: Text = ""
    subject: Text = ""
    before: int | None = None

    @property
    def choice(self) -> AuditFilter:
        """The rows that are chosen."""
        return AuditFilter(
            subject=self.subject.strip() or None, noun=self.noun.strip() or None, thing=self.thing.strip() or None
        )


class KeyListQuery(msgspec.Struct, frozen=True):
    """The place in the list of keys: the number of the last one that was shown."""

    before: int | None = None


class KeyForm(msgspec.Struct, frozen=True):
    """The form of a new API key."""

    name: str = ""
    door: str = ""
    role: Role = Role.SERVICE


@operation("GET", "/console/audit", "Show the audit", access="admin")
async def show_audit(services: PlatformPageServices, query: ShownAuditQuery, identity: Visitor) -> ApiResponse[Any]:
    rows, last = page_of(await services.audit.find(query.choice, PAGE_SIZE + 1, query.before), PAGE_SIZE)
    return services.pages.page(
        "platform/audit.html",
        identity,
        section="audit",
        rows=rows,
        filters={"noun": query.noun, "thing": query.thing, "subject": query.subject},
        older=None if last is None else last.id,
    )


@operation("GET", "/console/audit/{uid}", "Show an audit row", access="admin")
async def show_audit_row(services: PlatformPageServices, uid: str, identity: Visitor) -> ApiResponse[Any]:
    row = await services.audit.get(uid)
    return services.pages.page(
        "platform/audit_row.html",
        identity,
        section="audit",
        row=row,
        before=_fields(row.before),
        after=_fields(row.after),
    )


def _fields(state: str | None) -> dict[str, str | None]:
    """Return the fields of a state, each as text: times as times, and other values that are no text as JSON."""
    fields = {} if state is None else msgspec.json.decode(state, type=dict[str, Any])
    return {name: _time(name, value) or _text(value) for name, value in fields.items()}


def _time(name: str, value: Any) -> str | None:
    """Return the time of a field that has one in milliseconds, by its name and by its size."""
    is_time = name.endswith(_TIMES) and isinstance(value, int) and _FIRST_TIME_MS <= value <= _LAST_TIME_MS
    return f"{moment(value)} {zone_name()}" if is_time else None


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


@operation("GET", "/console/keys", "Show API keys", access="admin")
async def show_keys(services: PlatformPageServices, query: KeyListQuery, identity: Visitor) -> ApiResponse[Any]:
    return await _keys(services, identity, query.before, KeyForm())


async def _keys(
    services: PlatformPageServices, visitor: Visitor, before: int | None, given: KeyForm, problem: str = ""
) -> ApiResponse[Any]:
    keys, last = page_of(await services.keys.find(PAGE_SIZE + 1, before), PAGE_SIZE)
    return services.pages.page(
        "platform/keys.html",
        visitor,
        section="keys",
        is_refusal=bool(problem),
        keys=keys,
        older=None if last is None else last.id,
        doors=services.doors,
        roles=(Role.SERVICE, Role.MEMBER, Role.MODERATOR, Role.ADMIN),
        given=given,
        problem=problem,
    )


@operation("POST", "/console/keys", "Make an API key", access="admin_action", action="key.create")
async def make_key(services: PlatformPageServices, body: KeyForm, identity: Visitor) -> ApiResponse[Any]:
    try:
        if body.door not in services.doors:
            raise BadInput(f"the door of a key is one of {', '.join(services.doors)}")
        row, text = await services.keys.create(NewApiKey(body.name.strip(), body.door, body.role))
    except BadInput as error:
        return await _keys(services, identity, None, body, str(error))
    return services.pages.page("platform/key.html", identity, section="keys", key=row, text=text)


@operation("POST", "/console/keys/{uid}/revoke", "Revoke an API key", access="admin_action", action="key.revoke")
async def revoke_key(services: PlatformPageServices, uid: str) -> ApiResponse[Any]:
    await services.keys.revoke(uid)
    return acted("/console/keys", "The key is revoked.")


@operation("GET", "/console/settings", "Show the settings in force", access="admin")
async def show_settings(services: PlatformPageServices, identity: Visitor) -> ApiResponse[Any]:
    return services.pages.page("platform/settings.html", identity, section="settings", settings=services.settings)


PLATFORM_PAGES = (
    *(show_audit, show_audit_row),
    *(show_keys, make_key, revoke_key, show_settings),
)
