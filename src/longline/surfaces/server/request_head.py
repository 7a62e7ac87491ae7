"""Validation of request heads, common to all HTTP APIs."""

import re
from typing import Any, NamedTuple

from longline.surfaces.server.request_limits import MAX_BODY_BYTES, MAX_HEAD_BYTES

_REFUSAL = "longline.refusal"
_HOST = re.compile(rb"(?:\[[0-9A-Za-z:.%~_-]*\]|(?:[!$&'()*+,;=0-9A-Za-z._~-]|%[0-9A-Fa-f]{2})*+)(?::[0-9]*)?\Z")
_HEADER_SIGNS = len(b": \r\n")
_LENGTH_DIGITS = len(str(MAX_BODY_BYTES))


class Refusal(NamedTuple):
    """The status and the text of a refusal before the body is read."""

    status: int
    text: str


TOO_LARGE = Refusal(413, "Request Entity Too Large")
HEAD_TOO_LARGE = Refusal(431, "Request Header Fields Too Large")
BAD_VERSION = Refusal(400, "HTTP/1.1 or HTTP/1.0 is required")
NO_HOST = Refusal(400, "The Host header is missing")
MANY_HOSTS = Refusal(400, "There is more than one Host header")
BAD_HOST = Refusal(400, "The Host header is not a host")


def refusal_of(version: str, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
    """Return the refusal of a request with this head (RFC 9112, sections 2.3 and 3.2), or None.

    The HTTP parser has already refused a Content-Length that is no number, and two different ones.
    """
    if not version.startswith("1."):
        return BAD_VERSION
    hosts = size = 0
    for name, value in headers:
        size += len(name) + len(value) + _HEADER_SIGNS
        if name == b"host":
            hosts += 1
            if not _HOST.match(value.strip(b" \t")):
                return BAD_HOST
        elif name == b"content-length" and _is_too_long(value):
            return TOO_LARGE
    if size > MAX_HEAD_BYTES:
        return HEAD_TOO_LARGE
    if hosts == 1 or (hosts == 0 and version == "1.0"):
        return None
    return MANY_HOSTS if hosts else NO_HOST


def _is_too_long(value: bytes) -> bool:
    """Return whether a Content-Length is above the limit; leading zeros may make a small number very long."""
    digits = value.lstrip(b"0")
    return len(digits) > _LENGTH_DIGITS or int(digits or b"0") > MAX_BODY_BYTES


def refuse(state: dict[str, Any], refusal: Refusal) -> None:
    """Mark a request as refused in its state.

    The application answers with the refusal and does not read the body, or logs the refusal that was sent meanwhile.
    """
    state[_REFUSAL] = refusal


def refusal_in(state: dict[str, Any]) -> Refusal | None:
    """Return the refusal that a request was marked with."""
    found: Refusal | None = state.get(_REFUSAL)
    return found
