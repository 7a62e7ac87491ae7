"""Callers, and the rules of access that decide about them."""

from typing import Literal

import msgspec

from longline.model.callers.roles import Role
from longline.model.errors import LonglineError

CallerKind = Literal["user", "service", "key", "anonymous", "operator"]
"""Kind of a caller: a person or a program with a token, an API key, a caller without credentials, the command line."""

Denial = Literal["role", "door", "tenant"]


class Caller(msgspec.Struct, frozen=True):
    """The identity of a caller. A caller with a tenant may use the data of that tenant alone."""

    subject: str
    name: str
    role: Role
    kind: CallerKind
    tenant: str = ""
    address: str = ""
    door: str = ""
    """The one API that a key opens; empty for callers that may use all."""

    per_minute: int | None = None

    @property
    def limit_key(self) -> str:
        """The name under which the requests of the caller are counted."""
        return f"{self.kind}:{self.subject or self.address}"


class AccessRule(msgspec.Struct, frozen=True):
    """The callers that an operation of an API serves.

    With `is_open`, callers without credentials are served too. An API without tenants (`has_tenants` is False) shows
    the data of all, and therefore serves no caller of a tenant. `per_minute` limits the requests of each caller, unless
    the API has a policy of rate limits (`has_limits`), which is applied after the access.
    """

    door: str
    roles: frozenset[Role]
    is_open: bool = False
    has_tenants: bool = False
    per_minute: int | None = None
    has_limits: bool = False

    def denial(self, caller: Caller) -> Denial | None:
        """Return the reason for which a caller is not served, or None."""
        if caller.door not in ("", self.door):
            return "door"
        if caller.tenant and not self.has_tenants:
            return "tenant"
        return None if caller.role in self.roles else "role"

    @property
    def role_names(self) -> list[str]:
        """The names of the roles that are served, highest first."""
        return [role.value for role in Role if role in self.roles and role.value]


class NotAllowed(LonglineError):
    """A known caller that the operation does not serve; `why` is the failed condition."""

    def __init__(self, why: Denial, caller: Caller, rule: AccessRule) -> None:
        super().__init__(_denial_text(why, caller, rule))
        self.why, self.caller = why, caller


def _denial_text(why: Denial, caller: Caller, rule: AccessRule) -> str:
    match why:
        case "door":
            return f"this API key opens the API {caller.door}; ask for a key of the API {rule.door}"
        case "tenant":
            return "this API has no tenants and serves no caller of a tenant; use credentials without one"
        case "role":
            role = f"the role {caller.role}" if caller.role else "a caller without a role"
            return f"{role} may not do this; it takes the role {' or '.join(rule.role_names)}"
