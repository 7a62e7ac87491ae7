"""Challenges: pages that stand in the place of a page to see whether a person asks for it."""

from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.ports.http import Response

LARGEST = 32 * 1024
"""Bytes that a challenge has at most, as it comes: it is little more than a script."""

LARGEST_DECODED = 512 * 1024
"""Bytes that a challenge has at most once it is decoded."""

_PHRASES = (
    *(b"just a moment...", b"checking your browser", b"verify you are human", b"cf-browser-verification"),
    *(b"enable javascript and cookies to continue", b"attention required! | cloudflare"),
)


def is_challenge(response: Response, max_bytes: int) -> bool:
    """Whether an answer is a challenge by what its headers say, or by its words where they say who stands before it."""
    ray, server = response.header("cf-ray"), response.header("server") or ""
    if ray is None and server.lower() != "cloudflare":
        return False
    if ray is not None and (response.header("cf-mitigated") or "").lower() == "challenge":
        return True
    if len(response.body) > LARGEST:
        return False
    try:
        text = decode_body(response.headers, response.body, min(max_bytes, LARGEST_DECODED)).lower()
    except Undecodable:
        return False
    return any(phrase in text for phrase in _PHRASES)
