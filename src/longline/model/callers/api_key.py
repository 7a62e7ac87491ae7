"""API keys: a public id by which a key is found, and a secret of which only the hash is stored."""

import secrets
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, NamedTuple

import msgspec

from longline.model.callers.roles import Role
from longline.model.errors import BadInput

PREFIX = "llk"
"""Beginning of every API key, by which scanners of code can find a key that was published."""

RANDOM_BYTES = 32
ID_BYTES = 8
MAX_NAME_CHARS = 100

LAST_USED_INTERVAL_MS = 60_000
"""Milliseconds between two writes of the time at which a key was last used."""

KeyRefusal = Literal["wrong", "revoked", "expired"]


class NewApiKey(msgspec.Struct, frozen=True):
    """A key to be made: its name, the one API it opens, the role, tenant and rate limit of its bearer, and its end."""

    name: str
    door: str
    role: Role = Role.SERVICE
    tenant: str = ""
    per_minute: int | None = None
    expires_at: int | None = None

    def check(self) -> None:
        """Raise `BadInput` for a key that cannot be made."""
        if not 0 < len(self.name.strip()) <= MAX_NAME_CHARS:
            raise BadInput(f"the name of a key must have 1 to {MAX_NAME_CHARS} characters")
        if self.role in (Role.NONE, Role.BANNED):
            raise BadInput("the role of a key must be admin, moderator, member or service")
        if self.per_minute is not None and self.per_minute < 1:
            raise BadInput("the rate limit of a key must be at least 1 request a minute")


class ApiKeyRow(msgspec.Struct, frozen=True):
    """A stored key; `secret` is the hash."""

    id: int
    uid: str
    name: str
    secret: str
    door: str
    role: Role
    tenant: str
    per_minute: int | None
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None

    @property
    def preview(self) -> str:
        """The part of the key that is shown."""
        return f"{PREFIX}_{self.uid}_…"

    def refusal(self, secret: str, now: int) -> KeyRefusal | None:
        """Return the reason for which the key is refused, or None."""
        if not compare_digest(digest(secret), self.secret):
            return "wrong"
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else None

    def was_used_lately(self, now: int) -> bool:
        """Return whether the time of the last use need not be written again."""
        return self.last_used_at is not None and now - self.last_used_at < LAST_USED_INTERVAL_MS


class ApiKeyParts(NamedTuple):
    """The two parts of a key's text."""

    uid: str
    secret: str

    @property
    def text(self) -> str:
        """The key as its bearer sends it."""
        return f"{PREFIX}_{self.uid}_{self.secret}"


def new_key() -> ApiKeyParts:
    """Return a new random key."""
    return ApiKeyParts(secrets.token_hex(ID_BYTES), secrets.token_urlsafe(RANDOM_BYTES))


def parse_key(text: str | None) -> ApiKeyParts | None:
    """Return the parts of a text that looks like a key, or None."""
    parts = (text or "").split("_", 2)
    return ApiKeyParts(parts[1], parts[2]) if len(parts) == 3 and parts[0] == PREFIX else None


def digest(secret: str) -> str:
    """Return the hash of a secret: a plain hash is safe, since a secret has 32 random bytes."""
    return sha256(secret.encode()).hexdigest()
