"""Roles of callers, their ranks, and the sets of roles that the APIs serve."""

from enum import StrEnum


class Role(StrEnum):
    """Roles of callers. `service` is the role of programs; `NONE` is that of a token that names no role."""

    ADMIN = "admin"
    MODERATOR = "moderator"
    MEMBER = "member"
    BANNED = "banned"
    SERVICE = "service"
    NONE = ""


_RANKS = (Role.BANNED, Role.MEMBER, Role.MODERATOR, Role.ADMIN)
_KNOWN = frozenset(role.value for role in Role)


def at_least(role: Role) -> frozenset[Role]:
    """Return the roles of people from this rank upwards: banned, member, moderator, admin."""
    return frozenset(_RANKS[_RANKS.index(role) :])


ADMINS = at_least(Role.ADMIN)
OPERATORS = at_least(Role.MODERATOR) | {Role.SERVICE, Role.NONE}
"""Roles that run the platform; services that share the secret sign tokens for themselves without a role."""

NOT_BANNED = frozenset(Role) - {Role.BANNED}


def role_named(text: str) -> Role:
    """Return the role with this name; a name of another issuer that is unknown here counts as a member."""
    return Role(text) if text in _KNOWN else Role.MEMBER
