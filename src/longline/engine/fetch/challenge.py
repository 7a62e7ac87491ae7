"""Challenges: bot checks that a site serves in place of a page."""

from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.ports.http import Response

MAX_BYTES = 32 * 1024
"""Largest challenge in bytes, as received: a challenge is little more than a script."""

MAX_DECODED_BYTES = 512 * 1024
"""Largest challenge in bytes, once decoded."""

_PHRASES = (
    *(b"just a moment...", b"checking your browser", b"verify you are human", b"cf-browser-verification"),
    *(b"enable javascript and cookies to continue", b"attention required! | cloudflare"),
)


def is_challenge(response: Response, max_bytes: int) -> bool:
    """Return True for a Cloudflare challenge, by its headers or by the phrases in a small body."""
    ray, server = response.header("cf-ray"), response.header("server") or ""
    if ray is None and server.lower() != "cloudflare":
        return False
    if ray is not None and (response.header("cf-mitigated") or "").lower() == "challenge":
        return True
    if len(response.body) > MAX_BYTES:
        return False
    try:
        text = decode_body(response.headers, response.body, min(max_bytes, MAX_DECODED_BYTES)).lower()
    except Undecodable:
        return False
    return any(phrase in text for phrase in _PHRASES)
