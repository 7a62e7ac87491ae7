"""The id of the request that is being served.

The module imports no framework: every command sets up logs, which name the id.
"""

import secrets
from collections.abc import Iterable
from contextvars import ContextVar

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Id of the current request; log lines carry it."""

MAX_ID_CHARS = 128


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id that a client has given its request, or a new one if that is missing or too long."""
    given = next((value for name, value in headers if name == b"x-request-id"), b"")
    return given.decode("latin-1") if 0 < len(given) <= MAX_ID_CHARS else secrets.token_hex(16)
