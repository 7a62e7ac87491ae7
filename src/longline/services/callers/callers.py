"""Callers: credentials become a caller, and a rule decides whether the caller is served."""

import msgspec

from longline.model.callers.api_key import ApiKeyRow, parse_key
from longline.model.callers.caller import AccessRule, Caller, CallerKind, NotAllowed
from longline.model.callers.rate_limit import RateLimitPolicy, RateLimitState
from longline.model.callers.roles import Role, role_named
from longline.model.errors import Unavailable
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.rate_limits import RateLimits
from longline.services.callers.tokens import TokenClaims, TokenRefused, Tokens


class CallerCredentials(msgspec.Struct, frozen=True):
    """The credentials of a request: a bearer token or API key, the key of the `X-API-Key` header, and the address."""

    bearer: str | None = None
    api_key: str | None = None
    address: str = ""


class Callers:
    """The one place that turns credentials into a caller.

    `per_minute` is the operator's limit for each caller at an API, where neither its key nor the API has one.
    """

    def __init__(
        self,
        tokens: Tokens,
        keys: ApiKeys | None = None,
        limits: RateLimits | None = None,
        per_minute: int | None = None,
    ) -> None:
        self._tokens, self._keys, self._limits, self._per_minute = tokens, keys, limits, per_minute

    async def admit(self, given: CallerCredentials, rule: AccessRule) -> Caller:
        """Return the caller of a request that is served.

        Raise `TokenRefused` for wrong credentials, `NotAllowed` for a caller that the rule does not serve, `TooOften`
        for one that exceeds its rate limit.
        """
        caller = await self.identify(given, is_open=rule.is_open)
        why = rule.denial(caller)
        if why is not None:
            raise NotAllowed(why, caller, rule)
        per_minute = caller.per_minute or rule.per_minute or self._per_minute
        if per_minute is not None and self._limits is not None and not rule.has_limits:
            await self._limits.check(f"{rule.door}/{caller.limit_key}", per_minute)
        return caller

    async def still_serves(self, given: CallerCredentials, rule: AccessRule) -> bool:
        """Return whether a request that was admitted would be served now; it is not counted.

        Without an answer of the database it is served.
        """
        try:
            return rule.denial(await self.identify(given, is_open=rule.is_open)) is None
        except TokenRefused:
            return False
        except Unavailable:
            return True

    async def charge(
        self, policy: RateLimitPolicy, door: str, caller: Caller | None, *, address: str, method: str
    ) -> RateLimitState | None:
        """Count a request under the limits of an API, by its caller or else by its address; return their state.

        The result is None for a request that no limit concerns.
        """
        limits = policy.limits_of(caller, method)
        if self._limits is None or not limits:
            return None
        key = f"address:{address}" if caller is None else caller.limit_key
        return await self._limits.charge(f"{door}/{key}", limits)

    @property
    def needs_shared_key(self) -> bool:
        """Whether the operator demands a key beside every token."""
        return self._tokens.needs_key

    async def bearer(self, given: CallerCredentials) -> tuple[Caller, int | None]:
        """Return the caller of a token or an API key, and when the credentials expire in UTC milliseconds, if ever."""
        key = parse_key(given.bearer)
        if key is not None and self._keys is not None:
            row = await self._keys.verify(key)
            return _bearer_of(row, given.address), row.expires_at
        claims = self._tokens.verify(given.bearer)
        self._tokens.check(given.api_key)
        return _caller_of(claims, given.address), None if claims.exp is None else claims.exp * 1000

    async def identify(self, given: CallerCredentials, *, is_open: bool = False) -> Caller:
        """Return the caller of these credentials; raise `TokenRefused` for wrong ones.

        With `is_open`, a caller may have no credentials; wrong credentials are refused all the same.
        """
        key = parse_key(given.bearer) or (None if given.bearer else parse_key(given.api_key))
        if key is not None and self._keys is not None:
            return _bearer_of(await self._keys.verify(key), given.address)
        if is_open and not given.bearer:
            return Caller("", "anonymous", Role.NONE, "anonymous", address=given.address)
        claims = self._tokens.verify(given.bearer)
        self._tokens.check(given.api_key)
        return _caller_of(claims, given.address)


def _bearer_of(row: ApiKeyRow, address: str) -> Caller:
    return Caller(row.uid, row.name, row.role, "key", row.tenant, address, row.door, row.per_minute)


def _caller_of(claims: TokenClaims, address: str) -> Caller:
    role = role_named(claims.role)
    kind: CallerKind = "service" if role is Role.SERVICE else "user"
    return Caller(claims.sub, claims.username, role, kind, claims.tenant, address)
