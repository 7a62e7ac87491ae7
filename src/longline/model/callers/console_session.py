"""Logins at the console: a public id by which a login is found, and a secret of which only the hash is stored."""

import secrets
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple

import msgspec

from longline.model.callers.api_key import ID_BYTES, RANDOM_BYTES, digest
from longline.model.callers.caller import Caller, CallerKind
from longline.model.callers.roles import Role

MAX_AGE_MS = 12 * 3_600_000
"""Longest time in milliseconds for which a login is good."""

SEEN_INTERVAL_MS = 60_000
"""Milliseconds between two writes of the time at which a session was last used."""

MAX_AGENT_CHARS = 300
DEFAULT_TIME_ZONE = "UTC"


class SessionCookie(NamedTuple):
    """The two parts of a session's cookie."""

    uid: str
    secret: str

    @property
    def text(self) -> str:
        """The cookie as the browser sends it."""
        return f"{self.uid}.{self.secret}"

    @property
    def csrf(self) -> str:
        """The token that every form of this session carries: other sites cannot compute it."""
        return sha256(f"csrf {self.secret}".encode()).hexdigest()

    def proves(self, given: str) -> bool:
        """Return whether a form carries the token of this session."""
        return compare_digest(self.csrf.encode(), given.encode())


def new_cookie() -> SessionCookie:
    """Return a new random cookie."""
    return SessionCookie(secrets.token_hex(ID_BYTES), secrets.token_urlsafe(RANDOM_BYTES))


def parse_cookie(text: str | None) -> SessionCookie | None:
    """Return the parts of a text that looks like a session's cookie, or None."""
    uid, dot, secret = (text or "").partition(".")
    return SessionCookie(uid, secret) if uid and dot and secret else None


class NewConsoleSession(msgspec.Struct, frozen=True):
    """A login to be stored; `secret` is the hash."""

    uid: str
    secret: str
    subject: str
    name: str
    role: Role
    kind: CallerKind
    address: str
    agent: str
    expires_at: int


class ConsoleSessionRow(msgspec.Struct, frozen=True):
    """A stored login; `secret` is the hash, `time_zone` the choice of its caller for all logins.

    `alerts` is the number of alerts that hold: every page tells it, and the statement that finds the login counts them.
    """

    id: int
    uid: str
    secret: str
    subject: str
    name: str
    role: Role
    kind: CallerKind
    address: str
    agent: str
    created_at: int
    seen_at: int
    expires_at: int
    time_zone: str = DEFAULT_TIME_ZONE
    alerts: int = 0

    def accepts(self, secret: str) -> bool:
        """Return whether a secret is that of this session."""
        return compare_digest(digest(secret), self.secret)

    def caller(self, address: str) -> Caller:
        """Return the caller of the session, at the present address."""
        return Caller(self.subject, self.name, self.role, self.kind, address=address)
