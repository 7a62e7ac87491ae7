"""Access to the operations of one API: the credentials of a request, and the roles that an operation serves."""

from collections.abc import Set as AbstractSet

from longline.model.callers.caller import AccessRule, Caller, Role
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import Access, HttpRequest


class DoorAccess:
    """The access checks of one API, which it declares by the roles that its operations serve.

    With `is_open`, callers need no credentials; with `has_tenants`, callers of a tenant are served too. `per_minute`
    limits the requests of each caller.
    """

    def __init__(
        self,
        callers: Callers,
        door: str,
        *,
        is_open: bool = False,
        has_tenants: bool = False,
        per_minute: int | None = None,
    ) -> None:
        self._callers, self._rule = callers, AccessRule(door, frozenset(), is_open, has_tenants, per_minute)

    def of(self, roles: AbstractSet[Role]) -> Access:
        """Return the access of callers with one of these roles."""
        return self._access(roles, ("bearer", "api_key"))

    def of_streams(self, roles: AbstractSet[Role]) -> Access:
        """Return the access to event streams; browsers cannot set headers for these, and send the token in the URL."""
        return self._access(roles, ("bearer", "api_key", "token_in_query"))

    def _access(self, roles: AbstractSet[Role], schemes: tuple[str, ...]) -> Access:
        old = self._rule
        rule = AccessRule(old.door, frozenset(roles), old.is_open, old.has_tenants, old.per_minute)
        reads_query = "token_in_query" in schemes

        async def check(request: HttpRequest) -> Caller:
            return await self._callers.admit(credentials(request, reads_query=reads_query), rule)

        return Access(check, schemes, is_optional=rule.is_open, rule=rule)


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
        raise TokenRefused("malformed")
    return token.strip()
