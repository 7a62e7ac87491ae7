"""Login and logout."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.console.access import SESSION_COOKIE, check_origin, cookies_of, inner_path, theme_of
from longline.console.actions import HOME, redirect
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.caller import NotAllowed
from longline.model.callers.console_session import MAX_AGE_MS, SessionCookie
from longline.services.callers.callers import CallerCredentials
from longline.services.callers.console_sessions import ConsoleSessions
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import Access, HttpRequest
from longline.surfaces.operation import ApiResponse, operation

PATH = "/console"
"""The only paths to which the browser sends the cookie of a session."""


class LoginServices(msgspec.Struct, frozen=True):
    """The services behind the login."""

    pages: Pages
    sessions: ConsoleSessions


class Browser(msgspec.Struct, frozen=True):
    """A browser without a session."""

    address: str
    agent: str
    host: str
    theme: str
    is_secure: bool


class LoginQuery(msgspec.Struct, frozen=True):
    """The page to show after the login; `unsaved` if a form was sent without a session."""

    next: str = HOME
    unsaved: bool = False


class OnceQuery(msgspec.Struct, frozen=True):
    """The secret of a link that logs in once."""

    secret: str = ""


class LoginForm(msgspec.Struct, frozen=True):
    """The form of the login."""

    credentials: str = ""
    shared_key: str = ""
    next: str = HOME


def browser_access() -> Access:
    """Return the access of everyone to the login, from pages of this server."""

    def check(request: HttpRequest) -> Browser:
        check_origin(request)
        return Browser(
            request.client,
            request.header(b"user-agent") or "",
            request.header(b"host") or "",
            theme_of(cookies_of(request)),
            request.header(b"x-forwarded-proto") == "https",
        )

    return Access(check)


def cookie_header(cookie: SessionCookie | None, *, is_secure: bool) -> Mapping[str, str]:
    """Return the header that sets the cookie of a session, or deletes it."""
    text, age = ("", 0) if cookie is None else (cookie.text, MAX_AGE_MS // 1000)
    secure = "; Secure" if is_secure else ""
    return {"Set-Cookie": f"{SESSION_COOKIE}={text}; Path={PATH}; Max-Age={age}; HttpOnly; SameSite=Strict{secure}"}


@operation("GET", "/console/login", "Show the login", access="browser")
async def show_login(services: LoginServices, query: LoginQuery, identity: Browser) -> ApiResponse[Any]:
    return _form(services, identity, inner_path(query.next), is_unsaved=query.unsaved)


@operation("POST", "/console/login", "Log in", access="browser")
async def log_in(services: LoginServices, body: LoginForm, identity: Browser) -> ApiResponse[Any]:
    target = inner_path(body.next)
    given = CallerCredentials(body.credentials.strip(), body.shared_key.strip(), identity.address)
    try:
        cookie = await services.sessions.log_in(given, identity.agent)
    except TokenRefused:
        problem = "This is no token or API key of this server, or it has expired."
        return _form(services, identity, target, problem, 401)
    except NotAllowed as refused:
        return _form(services, identity, target, str(refused), 403)
    return redirect(target, cookie_header(cookie, is_secure=identity.is_secure))


@operation("GET", "/console/enter", "Log in by a link that works once", access="browser")
async def log_in_once(services: LoginServices, query: OnceQuery, identity: Browser) -> ApiResponse[Any]:
    try:
        cookie = await services.sessions.log_in_once(query.secret, identity.address, identity.agent)
    except TokenRefused:
        return _form(services, identity, HOME, "This link has been used. Log in with a token.", 401)
    return redirect(HOME, cookie_header(cookie, is_secure=identity.is_secure))


@operation("POST", "/console/logout", "Log out", access="form", action="session.close")
async def log_out(services: LoginServices, identity: Visitor) -> ApiResponse[Any]:
    await services.sessions.end(identity.session)
    return redirect("/console/login", cookie_header(None, is_secure=False))


def _form(
    services: LoginServices,
    browser: Browser,
    target: str,
    problem: str = "",
    status: int = 200,
    *,
    is_unsaved: bool = False,
) -> ApiResponse[Any]:
    return services.pages.bare(
        "login.html",
        status,
        next=target,
        problem=problem,
        is_unsaved=is_unsaved,
        host=browser.host,
        theme=browser.theme,
        needs_shared_key=services.sessions.needs_shared_key,
    )


LOGIN = (show_login, log_in, log_in_once, log_out)
