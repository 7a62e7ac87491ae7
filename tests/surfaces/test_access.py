"""Access by credentials and roles."""

import pytest

from longline.model.callers.caller import Caller, NotAllowed
from longline.model.callers.roles import ADMINS, OPERATORS, Role
from longline.services.callers.callers import Callers
from longline.services.callers.tokens import TokenRefused, Tokens
from longline.surfaces.access import DoorAccess, bearer_token, credentials
from longline.surfaces.door import HttpRequest

TOKENS = Tokens("s" * 64, lambda: 1_000_000)
ACCESS = DoorAccess(Callers(TOKENS), "books")


def asked(*headers: tuple[bytes, bytes], query: bytes = b"") -> HttpRequest:
    """Return a request with these headers."""
    return HttpRequest({}, query, headers, client="192.0.2.1")


def bearing(role: str, tenant: str = "") -> HttpRequest:
    """Return a request with a token of this role."""
    return asked((b"authorization", b"Bearer " + TOKENS.issue(role, "ann", 60, tenant).encode()))


def test_a_token_is_read_from_the_header():
    assert bearer_token(asked((b"authorization", b"Bearer  abc "))) == "abc"
    assert bearer_token(asked((b"authorization", b"bearer abc"), query=b"token=other")) == "abc"
    assert bearer_token(asked(query=b"token=a")) is None
    assert bearer_token(asked()) is None


def test_a_token_is_read_from_the_query_for_streams_alone():
    given = asked(query=b"x=1&token=a%2Bb")
    assert credentials(given).bearer is None
    assert credentials(given, reads_query=True).bearer == "a+b"
    both = asked((b"authorization", b"Bearer mine"), query=b"token=other")
    assert credentials(both, reads_query=True).bearer == "mine"


@pytest.mark.parametrize("value", [b"abc", b"Basic abc", b"Bearer", b"Bearer "])
def test_a_malformed_header_is_refused(value: bytes):
    with pytest.raises(TokenRefused, match="header"):
        credentials(asked((b"authorization", value), query=b"token=good"), reads_query=True)


def test_two_headers_are_refused():
    with pytest.raises(TokenRefused, match="header"):
        bearer_token(asked((b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")))


async def test_the_caller_of_a_valid_token_is_the_identity():
    found = await ACCESS.of(ADMINS).check(bearing("admin"))
    assert found == Caller("ann", "ann", Role.ADMIN, "user", "", "192.0.2.1")


async def test_only_the_declared_roles_are_served():
    for role in ("member", "banned", "moderator", "service", "", "viewer"):
        with pytest.raises(NotAllowed, match="it takes the role admin"):
            await ACCESS.of(ADMINS).check(bearing(role))
    for role in ("admin", "moderator", "service", ""):
        assert (await ACCESS.of(OPERATORS).check(bearing(role))).role == role


async def test_a_caller_of_a_tenant_is_served_only_where_there_are_tenants():
    with pytest.raises(NotAllowed, match="no tenants"):
        await ACCESS.of(ADMINS).check(bearing("admin", "acme"))
    found = await DoorAccess(Callers(TOKENS), "books", has_tenants=True).of(ADMINS).check(bearing("admin", "acme"))
    assert found.tenant == "acme"


async def test_an_open_door_needs_no_credentials_and_refuses_wrong_ones():
    access = DoorAccess(Callers(TOKENS), "books", is_open=True).of(OPERATORS)
    assert access.is_optional
    assert (await access.check(asked())).kind == "anonymous"
    for request in (asked((b"authorization", b"Bearer x.y.z")), asked((b"authorization", b"Basic x"))):
        with pytest.raises(TokenRefused):
            await access.check(request)
    with pytest.raises(NotAllowed):
        await access.check(bearing("banned"))


async def test_the_api_key_is_required_beside_the_token_where_one_is_set():
    tokens = Tokens("s" * 64, lambda: 1_000_000, api_key="key")
    header = (b"authorization", b"Bearer " + tokens.issue("admin", "ann", 60).encode())
    access = DoorAccess(Callers(tokens), "books").of(ADMINS)
    with pytest.raises(TokenRefused, match="key"):
        await access.check(asked(header))
    assert (await access.check(asked(header, (b"x-api-key", b"key")))).subject == "ann"
