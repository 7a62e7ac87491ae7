"""Access by token."""

import pytest

from longline.services.tokens import TokenClaims, TokenRefused, Tokens
from longline.surfaces.access import bearer_token, token_access
from longline.surfaces.door import HttpRequest

TOKENS = Tokens("s" * 64, lambda: 1_000_000)


def asked(*headers: tuple[bytes, bytes], query: bytes = b"") -> HttpRequest:
    """A request with these headers."""
    return HttpRequest({}, query, headers)


def test_a_token_is_read_from_the_header_or_else_from_the_query():
    assert bearer_token(asked((b"authorization", b"Bearer  abc "))) == "abc"
    assert bearer_token(asked((b"authorization", b"bearer abc"), query=b"token=other")) == "abc"
    assert bearer_token(asked(query=b"x=1&token=a%2Bb")) == "a+b"
    assert bearer_token(asked()) is None


@pytest.mark.parametrize("value", [b"abc", b"Basic abc", b"Bearer", b"Bearer "])
def test_a_malformed_header_is_refused(value: bytes):
    with pytest.raises(TokenRefused, match="malformed"):
        bearer_token(asked((b"authorization", value), query=b"token=good"))


def test_two_headers_are_refused():
    with pytest.raises(TokenRefused, match="malformed"):
        bearer_token(asked((b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")))


def test_the_claims_of_a_valid_token_are_the_identity():
    token = TOKENS.issue("admin", "ann", 60).encode()
    found = token_access(TOKENS).check(asked((b"authorization", b"Bearer " + token)))
    assert isinstance(found, TokenClaims)
    assert (found.role, found.sub) == ("admin", "ann")


def test_the_api_key_is_required_beside_the_token_where_one_is_set():
    tokens = Tokens("s" * 64, lambda: 1_000_000, api_key="key")
    header = (b"authorization", b"Bearer " + tokens.issue("admin", "ann", 60).encode())
    access = token_access(tokens)
    with pytest.raises(TokenRefused, match="key"):
        access.check(asked(header))
    assert access.check(asked(header, (b"x-api-key", b"key"))).sub == "ann"
