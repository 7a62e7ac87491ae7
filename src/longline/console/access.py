"""Access to pages: a session by cookie, the role of its caller, and the token of the form that is sent."""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from longline.console.actions import HOME, ActionForm, FormReader, read_toast
from longline.console.template_filters import TIME_ZONE
from longline.console.visitor import Visitor
from longline.model.callers.caller import AccessRule, NotAllowed
from longline.model.callers.console_session import SessionCookie
from longline.model.callers.roles import Role
from longline.model.errors import LonglineError
from longline.services.callers.console_sessions import ConsoleSessions, SessionEnded
from longline.surfaces.door import Access, HttpRequest
from longline.surfaces.operation import PATH_PARAMETER, Operation

SESSION_COOKIE = "longline_console"
THEME_COOKIE = "longline_theme"
THEMES = ("light", "dark")

SENT_FROM: ContextVar[str] = ContextVar("sent_from", default="")
"""The page whose form is handled; empty for a request of another kind, and for a form whose page is unknown."""


class LoginNeeded(LonglineError):
    """A page was requested without a login; `path` is the page to show after it.

    With `is_unsaved` a form was sent, and its input is lost.
    """

    def __init__(self, path: str, *, is_unsaved: bool = False) -> None:
        super().__init__("log in first")
        self.path, self.is_unsaved = path, is_unsaved


class ForgedForm(LonglineError):
    """A form that no page of this session has sent."""

    def __init__(self) -> None:
        super().__init__("This form is not from a page of your session. Load the page again and repeat the action.")


class PagePaths:
    """The paths of the console that a browser can show: those of forms alone are no pages."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        methods: dict[str, set[str]] = {}
        for one in operations:
            methods.setdefault(one.path, set()).add(one.method)
        # As in the router, a fixed path goes before one with a parameter.
        fixed_first = sorted(methods, key=lambda path: (len(PATH_PARAMETER.findall(path)), path))
        self._paths = [(_pattern(path), "GET" in methods[path]) for path in fixed_first]

    def have(self, path: str) -> bool:
        """Return whether a path is that of a page."""
        return next((is_page for pattern, is_page in self._paths if pattern.fullmatch(path.rstrip("/"))), False)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(map(re.escape, PATH_PARAMETER.sub("\0", path).split("\0"))))


class PageAccess:
    """The access checks of the console, which it declares by the roles that its pages serve."""

    def __init__(self, sessions: ConsoleSessions, door: str, pages: PagePaths) -> None:
        self._sessions, self._door, self._pages = sessions, door, pages

    def of(self, roles: AbstractSet[Role]) -> Access:
        """Return the access to pages and streams."""
        rule = AccessRule(self._door, frozenset(roles))

        async def check(request: HttpRequest) -> Visitor:
            return (await self._visitor(request, rule))[0]

        return Access(check, ("session",), rule=rule)

    def of_forms(self, roles: AbstractSet[Role]) -> Access:
        """Return the access to actions: forms carry the token of their session, and the reason for the audit."""
        rule, reader = AccessRule(self._door, frozenset(roles)), FormReader(ActionForm)

        async def check(request: HttpRequest) -> Visitor:
            check_origin(request)
            try:
                visitor, cookie = await self._visitor(request, rule)
            except LoginNeeded:
                # The path takes forms alone: the login leads back to the page of the form.
                raise LoginNeeded(page_of_form(request, self._pages) or HOME, is_unsaved=True) from None
            sent: ActionForm = reader.body(request.body)
            if not cookie.proves(sent.csrf):
                raise ForgedForm
            SENT_FROM.set(page_of_form(request, self._pages))
            return msgspec.structs.replace(visitor, reason=sent.reason.strip() or None)

        return Access(check, ("session",), rule=rule, reads_body=True)

    async def _visitor(self, request: HttpRequest, rule: AccessRule) -> tuple[Visitor, SessionCookie]:
        SENT_FROM.set("")
        cookies = cookies_of(request)
        try:
            row, cookie = await self._sessions.find(cookies.get(SESSION_COOKIE))
        except SessionEnded:
            query = f"?{request.query.decode('latin-1')}" if request.query else ""
            raise LoginNeeded(f"{request.path}{query}") from None
        caller = row.caller(request.client)
        why = rule.denial(caller)
        if why is not None:
            raise NotAllowed(why, caller, rule)
        facts = msgspec.structs.asdict(caller)
        TIME_ZONE.set(zone_of(row.time_zone))
        theme, toast = theme_of(cookies), read_toast(cookies)
        known = Visitor(**facts, session=row.uid, csrf=cookie.csrf, theme=theme, toast=toast, alerts=row.alerts)
        return known, cookie


def cookies_of(request: HttpRequest) -> dict[str, str]:
    """Return the cookies of a request; a malformed header has none."""
    try:
        found = SimpleCookie(request.header(b"cookie") or "")
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items()}


def theme_of(cookies: dict[str, str]) -> str:
    """Return the theme that the visitor chose; empty for that of the system."""
    chosen = cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else ""


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name; UTC for one that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def check_origin(request: HttpRequest) -> None:
    """Raise `ForgedForm` for a form that the page of another site has sent."""
    origin = request.header(b"origin")
    if origin is not None and urlsplit(origin).netloc != request.header(b"host"):
        raise ForgedForm
    if request.header(b"sec-fetch-site") in ("cross-site", "same-site"):
        raise ForgedForm


def page_of_form(request: HttpRequest, pages: PagePaths) -> str:
    """Return the page of the console that sent a form; empty if its address is not told, or takes forms alone."""
    page = urlsplit(request.header(b"referer") or "")
    path = f"{page.path}?{page.query}" if page.query else page.path
    return path if path and inner_path(path) == path and pages.have(page.path) else ""


def inner_path(path: str) -> str:
    """Return a path of the console to which a login may lead, or its first page."""
    is_inner = path == HOME or path.startswith((f"{HOME}/", f"{HOME}?"))
    return path if is_inner and "\\" not in path and path.isprintable() and path.isascii() else HOME
