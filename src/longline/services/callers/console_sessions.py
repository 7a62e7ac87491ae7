"""Logins at the console: opened by a token, an API key or a link that works once; looked up with each page; ended."""

import secrets
from hmac import compare_digest

from longline.model.callers.api_key import RANDOM_BYTES, digest
from longline.model.callers.audit import AuditContext, audited_as
from longline.model.callers.caller import AccessRule, Caller, NotAllowed
from longline.model.callers.console_session import (
    MAX_AGE_MS,
    MAX_AGENT_CHARS,
    SEEN_INTERVAL_MS,
    ConsoleSessionRow,
    NewConsoleSession,
    SessionCookie,
    new_cookie,
    parse_cookie,
)
from longline.model.callers.roles import Role
from longline.model.callers.time_zones import known_time_zones
from longline.model.errors import BadInput, LonglineError, NotFound
from longline.model.storable_text import storable
from longline.ports.clock import Clock
from longline.ports.records.callers import ConsoleSessionStore
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.tokens import TokenRefused


class SessionEnded(LonglineError):
    """A request without a login in force."""


class OneTimeLogin:
    """A link that logs in once, for the person who started this process and reads its output."""

    def __init__(self) -> None:
        self.secret = secrets.token_urlsafe(RANDOM_BYTES)
        self._is_spent = False

    def redeem(self, given: str) -> bool:
        """Return whether this is the secret of the link, and spend it."""
        fits = not self._is_spent and compare_digest(self.secret.encode(), given.encode())
        self._is_spent = self._is_spent or fits
        return fits


class ConsoleSessions:
    """The logins at the console; `rule` names the callers that may log in."""

    def __init__(
        self,
        store: ConsoleSessionStore,
        callers: Callers,
        clock: Clock,
        rule: AccessRule,
        link: OneTimeLogin | None = None,
    ) -> None:
        self._store, self._callers, self._clock, self._rule, self._link = store, callers, clock, rule, link

    async def log_in(self, given: CallerCredentials, agent: str) -> SessionCookie:
        """Open a session by a token or an API key.

        Raise `TokenRefused` for wrong credentials, and `NotAllowed` for a caller that the console does not serve.
        """
        caller, expires_at = await self._callers.bearer(given)
        return await self._open(caller, expires_at, agent)

    @property
    def needs_shared_key(self) -> bool:
        """Whether a token alone does not log in."""
        return self._callers.needs_shared_key

    async def log_in_once(self, secret: str, address: str, agent: str) -> SessionCookie:
        """Open a session of an administrator by the link of this process; raise `TokenRefused` the second time."""
        if self._link is None or not self._link.redeem(secret):
            raise TokenRefused("signature")
        return await self._open(Caller("operator", "operator", Role.ADMIN, "operator", address=address), None, agent)

    async def _open(self, caller: Caller, expires_at: int | None, agent: str) -> SessionCookie:
        why = self._rule.denial(caller)
        if why is not None:
            raise NotAllowed(why, caller, self._rule)
        cookie, latest = new_cookie(), self._clock.now() + MAX_AGE_MS
        session = NewConsoleSession(
            cookie.uid,
            digest(cookie.secret),
            caller.subject,
            caller.name or caller.subject,
            caller.role,
            caller.kind,
            caller.address,
            storable(agent)[:MAX_AGENT_CHARS],
            latest if expires_at is None else min(expires_at, latest),
        )
        await self._store.forget()
        with audited_as(AuditContext(caller, self._rule.door, "session.open")):
            await self._store.add(session)
        return cookie

    async def find(self, cookie: str | None) -> tuple[ConsoleSessionRow, SessionCookie]:
        """Return the session of a cookie and the parts of the cookie; raise `SessionEnded` without one in force."""
        given = parse_cookie(cookie)
        row = None if given is None else await self._store.get(given.uid)
        if given is None or row is None or not row.accepts(given.secret):
            raise SessionEnded("log in first")
        if self._clock.now() - row.seen_at >= SEEN_INTERVAL_MS:
            await self._store.touch(row.uid)
        return row, given

    async def all(self, limit: int, before_id: int | None = None) -> list[ConsoleSessionRow]:
        """Return the sessions in force, newest first; `before_id` continues a list."""
        return await self._store.find(limit=limit, before_id=before_id)

    async def of_subject(self, subject: str, kind: str) -> list[ConsoleSessionRow]:
        """Return the sessions of one caller in force, newest first."""
        return await self._store.of_subject(subject, kind)

    async def choose_time_zone(self, caller: Caller, time_zone: str) -> None:
        """Store the time zone in which a caller reads times; raise `BadInput` for an unknown one."""
        if time_zone not in known_time_zones():
            raise BadInput(f"{time_zone[:60]!r} is no time zone, such as Europe/Stockholm")
        await self._store.choose_time_zone(caller.subject, caller.kind, time_zone)

    async def end(self, uid: str) -> None:
        """End a session; raise `NotFound` for one that has ended."""
        if not await self._store.remove(uid):
            raise NotFound("session", uid)
