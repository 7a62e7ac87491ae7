"""Access tokens: JWTs signed with one shared secret. Issued with HS256; any member of the HMAC family is accepted."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hmac import compare_digest
from typing import Any, Literal

import jwt
import msgspec

from longline.model.errors import BadInput, LonglineError
from longline.model.ids import new_id

Refusal = Literal["missing", "malformed", "expired", "early", "signature", "algorithm", "key"]

_FAMILY = ("HS256", "HS384", "HS512")
# Times are compared below, with the given clock; unusual `sub` and `jti` of other issuers are no reason to refuse.
_UNCHECKED: Any = {f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}


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


class Tokens:
    """Issuer and verifier of tokens under one secret; `now` returns UTC milliseconds.

    With an `api_key`, a request needs that key beside its token.
    """

    def __init__(self, secret: str, now: Callable[[], int], api_key: str = "") -> None:
        if not secret:
            raise BadInput("a secret is needed to sign tokens")
        self._secret = secret
        self._now = now
        self._api_key = api_key.encode()

    def issue(self, role: str, sub: str, ttl: float) -> str:
        """Return a token for `sub`, valid for `ttl` seconds from now."""
        now = self._now() // 1000
        claims = TokenClaims(sub=sub, username=sub, role=role, iat=now, exp=now + max(1, round(ttl)), jti=new_id())
        with _short_secrets_allowed():
            return jwt.encode(msgspec.to_builtins(claims), self._secret, algorithm="HS256")

    def verify(self, token: str | None) -> TokenClaims:
        """Return the claims of a token; raise `TokenRefused` for one that is malformed, forged or not in force."""
        if not token:
            raise TokenRefused("missing")
        claims = self._claims(token)
        now = self._now() / 1000
        if claims.exp is not None and claims.exp <= now:
            raise TokenRefused("expired")
        return claims

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
        if begin > self._now() / 1000:
            raise TokenRefused("early")
        sub = str(payload.get("sub", ""))
        name = str(payload.get("username", sub))
        return TokenClaims(sub, name, str(payload.get("role", "")), iat, exp, str(payload.get("jti", "")))

    def _payload(self, token: str) -> dict[str, Any]:
        try:
            with _short_secrets_allowed():
                return jwt.decode(token, self._secret, algorithms=_FAMILY, options=_UNCHECKED)
        except jwt.InvalidAlgorithmError:
            raise TokenRefused("algorithm") from None
        except jwt.InvalidSignatureError:
            raise TokenRefused("signature") from None
        except jwt.InvalidTokenError:
            raise TokenRefused("malformed") from None


@contextmanager
def _short_secrets_allowed() -> Iterator[None]:
    # A short secret is logged once, at start, not with every request.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        yield
