"""Access to the manifest API: senders by tenant keys, certificates or tokens, operators by their token."""

import hmac

import msgspec

from longline.model.callers.caller import AccessRule, Caller
from longline.model.callers.roles import NOT_BANNED, OPERATORS, Role
from longline.services.callers.callers import Callers
from longline.services.manifests.tenants import Tenants
from longline.surfaces.access import bearer_token, credentials
from longline.surfaces.door import Access, HttpRequest
from longline.surfaces.manifests import errors
from longline.surfaces.operation import ApiFailure

TENANT_HEADER = b"x-fetchbox-tenant"
OPERATOR_HEADER = b"x-fetchbox-operator-token"
MAX_TENANT_CHARS = 255


def decoded_header(value: str) -> str:
    """Return the value of a header as its sender wrote it: headers arrive as bytes, which are usually UTF-8."""
    try:
        return value.strip().encode("latin-1").decode()
    except UnicodeDecodeError:
        return value.strip()


class ManifestSender(msgspec.Struct, frozen=True):
    """The sender of a manifest; a sender that has proved its tenant may use no other."""

    caller: Caller
    tenant: str = ""
    is_proved: bool = False


class ManifestAccess:
    """The checks of senders and of operators.

    With `is_open`, neither needs credentials, except senders of a tenant with keys. `subject_header` is a header in
    which a proxy in front names the subject of a client certificate that it has verified.
    """

    def __init__(
        self,
        callers: Callers,
        door: str,
        tenants: Tenants,
        *,
        is_open: bool = False,
        operator_token: str = "",
        subject_header: str = "",
    ) -> None:
        self._callers, self._tenants, self._token = callers, tenants, operator_token
        self._subject_header = subject_header.lower().encode()
        self._sending = AccessRule(door, NOT_BANNED, is_open, has_tenants=True)
        self._operating = AccessRule(door, OPERATORS, is_open and not operator_token)

    def of_senders(self) -> Access:
        """Return the access to the paths of senders."""
        return Access(self._sender, ("bearer", "api_key"), is_optional=self._sending.is_open, rule=self._sending)

    def of_operators(self) -> Access:
        """Return the access to the paths of operators."""
        schemes = ("operator_token", "bearer", "api_key")
        return Access(
            self._operator,
            schemes,
            is_optional=self._operating.is_open,
            rule=self._operating,
            still_served=self._is_still_operator,
        )

    async def _sender(self, request: HttpRequest) -> ManifestSender:
        named = decoded_header(request.header(TENANT_HEADER) or "")
        proved = self._proved_tenant(request)
        if proved is not None:
            if named not in ("", proved):
                raise ApiFailure(errors.WRONG_TENANT)
            await self._tenants.check_rate(proved)
            return ManifestSender(
                Caller(proved, proved, Role.NONE, "key", proved, request.client), proved, is_proved=True
            )
        caller = await self._callers.admit(credentials(request), self._sending)
        if caller.tenant and named not in ("", caller.tenant):
            raise ApiFailure(errors.WRONG_TENANT)
        tenant = caller.tenant or named
        sender = ManifestSender(caller, tenant, bool(caller.tenant))
        self._check_tenant(sender, tenant)
        await self._tenants.check_rate(tenant)
        return sender

    async def check_named_tenant(self, sender: ManifestSender, tenant: str) -> None:
        """Check the tenant that a manifest names, and count the request for it unless that was done by its headers."""
        self._check_tenant(sender, tenant)
        if tenant != sender.tenant:
            await self._tenants.check_rate(tenant)

    def _check_tenant(self, sender: ManifestSender, tenant: str) -> None:
        """Raise `ApiFailure` for a sender that names a tenant which needs other credentials."""
        if sender.is_proved and tenant != sender.tenant:
            raise ApiFailure(errors.WRONG_TENANT)
        if not sender.is_proved and self._tenants.needs_credentials(tenant):
            raise ApiFailure(errors.NO_CREDENTIALS)

    def _proved_tenant(self, request: HttpRequest) -> str | None:
        if self._subject_header:
            tenant = self._tenants.of_subject(decoded_header(request.header(self._subject_header) or ""))
            if tenant is not None:
                return tenant
        return self._tenants.of_key(bearer_token(request))

    async def _operator(self, request: HttpRequest) -> Caller:
        if self._has_token(request):
            return Caller("operator", "operator", Role.ADMIN, "key", address=request.client)
        if self._token and request.header(OPERATOR_HEADER) is not None:
            raise ApiFailure(errors.WRONG_CREDENTIALS)
        return await self._callers.admit(credentials(request), self._operating)

    async def _is_still_operator(self, request: HttpRequest) -> bool:
        return self._has_token(request) or await self._callers.still_serves(credentials(request), self._operating)

    def _has_token(self, request: HttpRequest) -> bool:
        """Return whether a request has the token of operators."""
        if not self._token:
            return False
        return self._is_operator(request.header(OPERATOR_HEADER)) or self._is_operator(bearer_token(request))

    def _is_operator(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self._token.encode())
