"""Callers: the tokens, keys and limits by which the APIs know them."""

from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.tokens import CLOCK_SKEW_SECONDS, Tokens
from longline.settings import jwt_public_key, jwt_secret
from longline.wiring.platform import Platform


def access_tokens(platform: Platform) -> Tokens:
    """Return the verifier of access tokens, by the secret and, if one is configured, the public key."""
    s = platform.settings
    return Tokens(
        jwt_secret(s),
        platform.clock.wall,
        s.api_key,
        public_key=jwt_public_key(s),
        skew_seconds=CLOCK_SKEW_SECONDS,
    )


def api_keys(platform: Platform) -> ApiKeys:
    """Return the API keys."""
    return ApiKeys(platform.records.api_keys, platform.clock)
