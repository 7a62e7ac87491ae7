"""The list of sessions: one's own, and those of everyone for administrators."""

from typing import Any

import msgspec

from longline.console.actions import acted
from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import NotFound
from longline.services.callers.console_sessions import ConsoleSessions
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50


class SessionPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of sessions."""

    pages: Pages
    sessions: ConsoleSessions


class SessionQuery(msgspec.Struct, frozen=True):
    """The place in the list of sessions."""

    before: int | None = None


@operation("GET", "/console/sessions", "Show the sessions of everyone", access="admin")
async def show_sessions(services: SessionPageServices, query: SessionQuery, identity: Visitor) -> ApiResponse[Any]:
    found, last = page_of(await services.sessions.all(PAGE_SIZE + 1, query.before), PAGE_SIZE)
    older = None if last is None else last.id
    return services.pages.page("sessions.html", identity, section="sessions", sessions=found, older=older, is_own=False)


@operation("GET", "/console/sessions/mine", "Show one's own sessions", access="reader")
async def show_own_sessions(services: SessionPageServices, identity: Visitor) -> ApiResponse[Any]:
    found = await services.sessions.of_subject(identity.subject, identity.kind)
    return services.pages.page("sessions.html", identity, section="sessions", sessions=found, older=None, is_own=True)


@operation("POST", "/console/sessions/{uid}/end", "End a session", access="form", action="session.close")
async def end_session(services: SessionPageServices, uid: str, identity: Visitor) -> ApiResponse[Any]:
    own = {session.uid for session in await services.sessions.of_subject(identity.subject, identity.kind)}
    if uid not in own and not identity.is_admin:
        raise NotFound("session", uid)
    await services.sessions.end(uid)
    return acted("/console/sessions/mine" if uid in own else "/console/sessions", "The session is ended.")


SESSIONS = (show_sessions, show_own_sessions, end_session)
