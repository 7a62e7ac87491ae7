"""Signatures of webhooks as Standard Webhooks describe them (standardwebhooks.com)."""

import base64
import binascii
import hashlib
import hmac

from longline.model.errors import BadInput

SECRET_PREFIX = "whsec_"
MIN_SECRET_BYTES = 24
MAX_SECRET_BYTES = 64

_ADVICE = (
    "a webhook needs a secret to sign with, at the end of its address: "
    "https://host/path#whsec_SECRET, where `openssl rand -base64 32` makes a SECRET"
)


def read_secret(text: str) -> bytes:
    """Return the key of a secret such as `whsec_…`; raise `BadInput` with advice for another text."""
    if not text.startswith(SECRET_PREFIX):
        raise BadInput(_ADVICE)
    try:
        key = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise BadInput(f"the secret of a webhook is not Base64; {_ADVICE}") from None
    if not MIN_SECRET_BYTES <= len(key) <= MAX_SECRET_BYTES:
        raise BadInput(f"the secret of a webhook has {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes; {_ADVICE}")
    return key


def signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(key: bytes, message_id: str, timestamp: int, body: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headers of a signed request with a body of JSON."""
    return (
        ("content-type", "application/json"),
        ("webhook-id", message_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", signature(key, message_id, timestamp, body)),
    )
