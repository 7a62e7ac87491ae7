"""Callers: credentials become a caller, and a rule decides whether the caller is served."""

import msgspec

from longline.model.callers.caller import AccessRule, Caller, CallerKind, NotAllowed, Role, role_named
from longline.services.tokens import TokenClaims, Tokens


class CallerCredentials(msgspec.Struct, frozen=True):
    """The credentials of a request: a bearer token or API key, the key of the `X-API-Key` header, and the address."""

    bearer: str | None = None
    api_key: str | None = None
    address: str = ""


class Callers:
    """The one place that turns credentials into a caller."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def admit(self, given: CallerCredentials, rule: AccessRule) -> Caller:
        """Return the caller; raise `TokenRefused` for wrong credentials, `NotAllowed` for a caller not served."""
        caller = await self.identify(given, is_open=rule.is_open)
        why = rule.denial(caller)
        if why is not None:
            raise NotAllowed(why, caller, rule)
        return caller

    async def identify(self, given: CallerCredentials, *, is_open: bool = False) -> Caller:
        """Return the caller of these credentials; raise `TokenRefused` for wrong ones.

        With `is_open`, a caller may have no credentials; wrong credentials are refused all the same.
        """
        if is_open and not given.bearer:
            return Caller("", "anonymous", Role.NONE, "anonymous", address=given.address)
        claims = self._tokens.verify(given.bearer)
        self._tokens.check(given.api_key)
        return _caller_of(claims, given.address)


def _caller_of(claims: TokenClaims, address: str) -> Caller:
    role = role_named(claims.role)
    kind: CallerKind = "service" if role is Role.SERVICE else "user"
    return Caller(claims.sub, claims.username, role, kind, claims.tenant, address)
