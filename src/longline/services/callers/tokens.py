"""Access tokens: JWTs signed with one shared secret, or by the owner of a configured public key.

Tokens are issued with HS256; any member of the HMAC family is accepted under the secret, RS256 under the public key.
The algorithm decides about the key: a public key is never used as a secret.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hmac import compare_digest
from typing import Any, Literal

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from longline.model.errors import BadInput, LonglineError
from longline.model.ids import new_id
from longline.model.storable_text import storable

Refusal = Literal["missing", "header", "malformed", "expired", "early", "signature", "algorithm", "key"]

_FAMILY = ("HS256", "HS384", "HS512")
_RSA = "RS256"
_PEM = "-----BEGIN"
MIN_RSA_BITS = 2048
# Times are compared below, with the given clock; unusual `sub` and `jti` of other issuers are no reason to refuse.
_UNCHECKED: Any = {f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}

SERVICE_TOKEN_SECONDS = 86_400.0
"""Lifetime of a token that this platform issues for itself, for requests to another service."""

CLOCK_SKEW_SECONDS = 5.0
"""Largest difference between the clock of an issuer of tokens and this one."""


class TokenRefused(LonglineError):
    """A token was refused; `kind` is the reason, for logs and not for the sender."""

    def __init__(self, kind: Refusal) -> None:
        super().__init__(f"token refused: {kind}")
        self.kind = kind


class TokenClaims(msgspec.Struct, frozen=True):
    """The identity and role of a bearer. Times are UTC seconds; a token of another issuer may have no `exp`."""

    sub: str
    username: str
    role: str
    iat: int
    exp: int | None
    jti: str
    tenant: str = ""


class Tokens:
    """Issuer and verifier of tokens under one secret; `now` returns UTC milliseconds.

    With an `api_key`, a request needs that key beside its token. `public_key`, a PEM text, verifies RS256 tokens.
    `skew_seconds` is the difference allowed between the clocks of issuers and this one.
    """

    def __init__(
        self,
        secret: str,
        now: Callable[[], int],
        api_key: str = "",
        *,
        public_key: str = "",
        skew_seconds: float = 0.0,
    ) -> None:
        if not secret:
            raise BadInput("a secret is needed to sign tokens")
        if _PEM in secret:
            raise BadInput("the secret that signs tokens is a PEM key; set a random text, and the key as a public key")
        self._secret = secret
        self._now = now
        self._api_key = api_key.encode()
        self._public_key = _rsa_key(public_key) if public_key else None
        self._skew_seconds = skew_seconds

    def issue(self, role: str, sub: str, ttl: float, tenant: str = "") -> str:
        """Return a token for `sub`, valid for `ttl` seconds from now."""
        now = self._now() // 1000
        end = now + max(1, round(ttl))
        claims = TokenClaims(sub=sub, username=sub, role=role, iat=now, exp=end, jti=new_id(), tenant=tenant)
        with _short_secrets_allowed():
            return jwt.encode(_payload_of(claims), self._secret, algorithm="HS256")

    def verify(self, token: str | None) -> TokenClaims:
        """Return the claims of a token; raise `TokenRefused` for one that is malformed, forged or not in force."""
        if not token:
            raise TokenRefused("missing")
        claims = self._claims(token)
        if claims.exp is not None and claims.exp <= self._now() / 1000 - self._skew_seconds:
            raise TokenRefused("expired")
        return claims

    @property
    def needs_key(self) -> bool:
        """Whether a token is refused without an API key beside it."""
        return bool(self._api_key)

    def check(self, shown: str | None) -> None:
        """Raise `TokenRefused` if an API key is required and the given key does not match."""
        if self._api_key and not compare_digest(self._api_key, (shown or "").encode()):
            raise TokenRefused("key")

    def _claims(self, token: str) -> TokenClaims:
        payload = self._payload(token)
        try:
            # Holders of the secret choose the lifetime: services sign tokens without `exp` for themselves.
            exp = int(payload["exp"]) if "exp" in payload else None
            begin, iat = float(payload.get("nbf", 0)), int(payload.get("iat", 0))
        except (TypeError, ValueError, OverflowError):
            raise TokenRefused("malformed") from None
        if begin > self._now() / 1000 + self._skew_seconds:
            raise TokenRefused("early")
        sub = str(payload.get("sub", ""))
        name = str(payload.get("username", sub))
        role, tenant = (str(payload.get(claim) or "") for claim in ("role", "tenant"))
        # The audit stores them as they are: a replaced character could make one caller or tenant of two.
        if any(storable(text) != text for text in (sub, name, tenant)):
            raise TokenRefused("malformed")
        return TokenClaims(sub, name, role, iat, exp, str(payload.get("jti", "")), tenant)

    def _payload(self, token: str) -> dict[str, Any]:
        try:
            if self._public_key is not None and jwt.get_unverified_header(token).get("alg") == _RSA:
                return jwt.decode(token, self._public_key, algorithms=[_RSA], options=_UNCHECKED)
            with _short_secrets_allowed():
                return jwt.decode(token, self._secret, algorithms=_FAMILY, options=_UNCHECKED)
        except jwt.InvalidAlgorithmError:
            raise TokenRefused("algorithm") from None
        except jwt.InvalidSignatureError:
            raise TokenRefused("signature") from None
        except jwt.InvalidTokenError:
            raise TokenRefused("malformed") from None


def _payload_of(claims: TokenClaims) -> dict[str, Any]:
    """Return the claims of a token to be issued; most callers have no tenant."""
    return {name: value for name, value in msgspec.structs.asdict(claims).items() if name != "tenant" or value}


def _rsa_key(text: str) -> RSAPublicKey:
    """Return the RSA key of a PEM text; raise `BadInput` for any other text."""
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise BadInput("the public key for tokens is not a public key in PEM format") from None
    if not isinstance(key, RSAPublicKey) or key.key_size < MIN_RSA_BITS:
        raise BadInput(f"the public key for tokens is not an RSA key of at least {MIN_RSA_BITS} bits")
    return key


@contextmanager
def _short_secrets_allowed() -> Iterator[None]:
    # A short secret is logged once, at start, not with every request.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        yield
