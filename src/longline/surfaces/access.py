"""Access to the operations of one API: the credentials of a request, and the roles that an operation serves."""

from collections.abc import Set as AbstractSet

import msgspec

from longline.model.callers.caller import AccessRule, Caller
from longline.model.callers.rate_limit import RateLimitPolicy
from longline.model.callers.roles import Role
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import Access, HttpRequest
from longline.surfaces.rate_limiter import RateLimiter, ResetFormat


class DoorAccess:
    """The access checks of one API, which it declares by the roles that its operations serve.

    With `is_open`, callers need no credentials; with `has_tenants`, callers of a tenant are served too. `per_minute`
    limits the requests of each caller. `limits`, a policy of rate limits, is shown in the headers of every response;
    `reset_format` is the form of the time in them.
    """

    def __init__(
        self,
        callers: Callers,
        door: str,
        *,
        is_open: bool = False,
        has_tenants: bool = False,
        per_minute: int | None = None,
        limits: RateLimitPolicy | None = None,
        reset_format: ResetFormat = "unix",
    ) -> None:
        self._callers, self._rule = callers, AccessRule(door, frozenset(), is_open, has_tenants, per_minute)
        self._limits, self._reset_format = limits, reset_format

    def of(self, roles: AbstractSet[Role], *, limits: RateLimitPolicy | None = None) -> Access:
        """Return the access of callers with one of these roles; `limits` replaces those of the API."""
        return self._access(roles, ("bearer", "api_key"), limits)

    def of_streams(self, roles: AbstractSet[Role], *, limits: RateLimitPolicy | None = None) -> Access:
        """Return the access to event streams; browsers cannot set headers for these, and send the token in the URL."""
        return self._access(roles, ("bearer", "api_key", "token_in_query"), limits)

    def public(self, *, limits: RateLimitPolicy | None = None) -> Access:
        """Return the access of everyone, under the rate limits of addresses."""
        return Access(lambda _: None, limiter=self._limiter(limits))

    def _access(self, roles: AbstractSet[Role], schemes: tuple[str, ...], limits: RateLimitPolicy | None) -> Access:
        limiter = self._limiter(limits)
        rule = msgspec.structs.replace(self._rule, roles=frozenset(roles), has_limits=limiter is not None)
        reads_query = "token_in_query" in schemes

        async def check(request: HttpRequest) -> Caller:
            return await self._callers.admit(credentials(request, reads_query=reads_query), rule)

        async def still_served(request: HttpRequest) -> bool:
            return await self._callers.still_serves(credentials(request, reads_query=reads_query), rule)

        return Access(check, schemes, is_optional=rule.is_open, rule=rule, limiter=limiter, still_served=still_served)

    def _limiter(self, limits: RateLimitPolicy | None) -> RateLimiter | None:
        policy = limits or self._limits
        return None if policy is None else RateLimiter(self._callers, self._rule.door, policy, self._reset_format)


def credentials(request: HttpRequest, *, reads_query: bool = False) -> CallerCredentials:
    """Return the credentials of a request; raise `TokenRefused` for a malformed header."""
    bearer = bearer_token(request)
    if bearer is None and reads_query:
        bearer = next((value for name, value in request.query_values() if name == "token"), None)
    return CallerCredentials(bearer, request.header(b"x-api-key"), request.client)


def bearer_token(request: HttpRequest) -> str | None:
    """Return the token of the `Authorization` header, or None; raise `TokenRefused` for a malformed header."""
    headers = [value.decode("latin-1") for name, value in request.headers if name == b"authorization"]
    if not headers:
        return None
    scheme, _, token = headers[0].strip().partition(" ")
    if len(headers) > 1 or scheme.lower() != "bearer" or not token.strip():
        raise TokenRefused("header")
    return token.strip()
