import base64
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from longline.model.errors import BadInput
from longline.services.callers.tokens import TokenRefused, Tokens
from tests.services.clock import HandClock

SECRET = "0123456789abcdef" * 4
NOW = 1_700_000_000


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW * 1000)


@pytest.fixture
def tokens(clock: HandClock) -> Tokens:
    return Tokens(SECRET, clock.now)


def forge(claims: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, secret, algorithm=algorithm)


def refusal(tokens: Tokens, token: str | None) -> str:
    with pytest.raises(TokenRefused) as caught:
        tokens.verify(token)
    return caught.value.kind


def test_a_token_has_subject_role_and_times(tokens: Tokens):
    claims = tokens.verify(tokens.issue("admin", "ann", 3600))
    assert (claims.sub, claims.username, claims.role) == ("ann", "ann", "admin")
    assert (claims.iat, claims.exp) == (NOW, NOW + 3600)
    other = tokens.verify(tokens.issue("admin", "ann", 3600))
    assert claims.jti
    assert claims.jti != other.jti


def test_a_token_is_an_ordinary_hs256_jwt(tokens: Tokens):
    token = tokens.issue("admin", "ann", 60)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    read = jwt.decode(token, SECRET, algorithms=["HS256"], options={"verify_exp": False})
    assert set(read) == {"sub", "username", "role", "iat", "exp", "jti"}


def test_a_token_expires(tokens: Tokens, clock: HandClock):
    token = tokens.issue("admin", "ann", 60)
    clock.millis += 59_999
    assert tokens.verify(token).sub == "ann"
    clock.millis += 1
    assert refusal(tokens, token) == "expired"


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_other_issuers_may_use_any_hmac_algorithm(tokens: Tokens, algorithm: str):
    claims = tokens.verify(forge({"exp": NOW + 1, "sub": 7, "role": "user"}, algorithm=algorithm))
    assert (claims.sub, claims.username, claims.role, claims.jti) == ("7", "7", "user", "")


def test_an_empty_token_is_missing(tokens: Tokens):
    assert refusal(tokens, None) == refusal(tokens, "") == "missing"


def test_a_token_under_another_secret_is_refused(tokens: Tokens):
    assert refusal(tokens, forge({"exp": NOW + 60}, secret="x" * 64)) == "signature"


def test_a_token_that_was_changed_is_refused(tokens: Tokens):
    head, _, sign = tokens.issue("user", "ann", 60).split(".")
    body = base64.urlsafe_b64encode(json.dumps({"role": "admin", "exp": NOW + 60}).encode()).decode().rstrip("=")
    assert refusal(tokens, f"{head}.{body}.{sign}") == "signature"


@pytest.mark.parametrize("algorithm", ["none", "RS256", "ES256", "HS1"])
def test_a_token_with_another_algorithm_is_refused(tokens: Tokens, algorithm: str):
    head = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "typ": "JWT"}).encode()).decode().rstrip("=")
    _, body, sign = forge({"exp": NOW + 60}).split(".")
    assert refusal(tokens, f"{head}.{body}.{'' if algorithm == 'none' else sign}") == "algorithm"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": "soon"},
        {"exp": None},
        {"exp": NOW + 60, "nbf": "later"},
        {"exp": NOW + 60, "iat": []},
        {"exp": 1e999},
    ],
)
def test_a_token_with_invalid_times_is_refused(tokens: Tokens, claims: dict[str, Any]):
    assert refusal(tokens, forge(claims)) == "malformed"


def test_a_token_without_an_expiry_is_valid_from_its_beginning(tokens: Tokens, clock: HandClock):
    token = forge({"sub": "svc", "nbf": NOW + 30})
    assert refusal(tokens, token) == "early"
    clock.millis += 10**12
    assert (tokens.verify(token).sub, tokens.verify(token).exp) == ("svc", None)


@pytest.mark.parametrize("token", ["x", "a.b.c", "....", "é.é.é", "Bearer x"])
def test_a_text_that_is_no_token_is_refused(tokens: Tokens, token: str):
    assert refusal(tokens, token) == "malformed"


def test_a_token_is_refused_before_its_beginning(tokens: Tokens, clock: HandClock):
    token = forge({"exp": NOW + 60, "nbf": NOW + 30})
    assert refusal(tokens, token) == "early"
    clock.millis += 30_000
    assert tokens.verify(token).exp == NOW + 60


def test_the_error_of_a_refusal_does_not_contain_the_token(tokens: Tokens):
    with pytest.raises(TokenRefused) as caught:
        tokens.verify("hunter2")
    assert "hunter2" not in str(caught.value)


def test_a_short_secret_is_accepted(clock: HandClock):
    tokens = Tokens("short", clock.now)
    assert tokens.verify(tokens.issue("admin", "ann", 60)).role == "admin"


def test_tokens_need_a_secret(clock: HandClock):
    with pytest.raises(BadInput, match="secret"):
        Tokens("", clock.now)


def test_the_api_key_of_the_settings_is_required():
    tokens = Tokens("s" * 64, lambda: 0, "me:secret")
    tokens.check("me:secret")
    for shown in (None, "", "me:secre", "me:secret2", "m\u00e9:secret"):
        with pytest.raises(TokenRefused) as refused:
            tokens.check(shown)
        assert refused.value.kind == "key"
    Tokens("s" * 64, lambda: 0).check(None)


@pytest.fixture(scope="module")
def rsa() -> tuple[str, str]:
    """A private and a public key."""
    key = generate_private_key(65537, 2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def test_rs256_is_verified_by_the_public_key_beside_the_secret(clock: HandClock, rsa: tuple[str, str]):
    private, public = rsa
    tokens = Tokens(SECRET, clock.now, public_key=public)
    token = forge({"sub": "ann", "role": "admin", "tenant": "acme", "exp": NOW + 60}, private, "RS256")
    assert (tokens.verify(token).sub, tokens.verify(token).tenant) == ("ann", "acme")
    assert tokens.verify(tokens.issue("admin", "me", 60)).sub == "me"
    assert refusal(Tokens(SECRET, clock.now), token) == "algorithm"
    other = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert refusal(tokens, forge({"sub": "ann", "exp": NOW + 60}, other, "RS256")) == "signature"
    assert refusal(tokens, forge({"exp": NOW + 60}, private, "RS512")) == "algorithm"
    assert refusal(tokens, forge({"exp": NOW}, private, "RS256")) == "expired"


def test_the_public_key_is_no_hmac_secret(clock: HandClock, rsa: tuple[str, str]):
    tokens = Tokens(SECRET, clock.now, public_key=rsa[1])
    for algorithm in ("HS256", "RS256"):
        assert refusal(tokens, hmac_signed({"role": "admin", "exp": NOW + 60}, rsa[1], algorithm)) == "signature"
    with pytest.raises(BadInput, match="PEM key"):
        Tokens(rsa[1], clock.now)


def hmac_signed(claims: dict[str, Any], secret: str, algorithm: str) -> str:
    """Return a token that is signed with HMAC, for any `alg`; the library refuses a public key as secret."""
    parts = [{"alg": algorithm, "typ": "JWT"}, claims]
    text = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    sign = hmac.digest(secret.encode(), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(sign).rstrip(b'=').decode()}"


def test_a_file_that_is_no_public_rsa_key_is_refused(clock: HandClock, rsa: tuple[str, str]):
    curve = generate_ec_key(SECP256R1()).public_key()
    for key in (
        "nonsense",
        rsa[0],
        curve.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
    ):
        with pytest.raises(BadInput, match="public key for tokens"):
            Tokens(SECRET, clock.now, public_key=key)


def test_clocks_of_issuers_may_differ_a_little(clock: HandClock):
    tokens = Tokens(SECRET, clock.now, skew_seconds=5)
    assert tokens.verify(forge({"exp": NOW - 4, "nbf": NOW + 5})).exp == NOW - 4
    assert refusal(tokens, forge({"exp": NOW - 5})) == "expired"
    assert refusal(tokens, forge({"nbf": NOW + 6})) == "early"


def test_a_null_role_is_none(tokens: Tokens):
    assert tokens.verify(forge({"role": None, "tenant": None})).role == ""


@pytest.mark.parametrize("claims", [{"sub": "a\0b"}, {"username": "\ud800"}, {"sub": "a", "tenant": "t\udfff"}])
def test_a_token_with_texts_that_cannot_be_stored_is_refused(tokens: Tokens, claims: dict[str, str]):
    assert refusal(tokens, forge(claims)) == "malformed"
