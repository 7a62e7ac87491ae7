"""The library's failures in our words.

It tells failures apart by class only roughly; the cause stands in the text, which is Rust's debug print. The tests
bring about every failure for real, so a change of that text is noticed.
"""

import re

from wreq import exceptions as wreq_errors

from longline.ports.http import FetchFailed

RAISED: tuple[type[Exception], ...] = (
    wreq_errors.BodyError,
    wreq_errors.BuilderError,
    wreq_errors.ConnectionError,
    wreq_errors.ConnectionResetError,
    wreq_errors.DecodingError,
    wreq_errors.ProxyConnectionError,
    wreq_errors.RedirectError,
    wreq_errors.RequestError,
    wreq_errors.StatusError,
    wreq_errors.TimeoutError,
    wreq_errors.TlsError,
    wreq_errors.UpgradeError,
)
"""What a request may raise; the classes have no ancestor of their own."""

_BY_CLASS: dict[type[Exception], str] = {
    wreq_errors.BuilderError: "bad_url",
    wreq_errors.ConnectionResetError: "reset",
    wreq_errors.TimeoutError: "idle_timeout",
    wreq_errors.TlsError: "tls",
}

_WHILE_CONNECTING = (
    ("TimedOut", "connect_timeout"),
    ("ConnectionRefused", "refused"),
    ("dns error", "dns"),
    ("ErrorStack", "tls"),
    ("SYSCALL", "reset"),  # the other side hung up during the TLS handshake
    ("ConnectionReset", "reset"),
)

_AFTER = (
    ("TimedOut", "idle_timeout"),
    ("UnexpectedEof", "truncated"),
    ("IncompleteBody", "truncated"),
    ("IncompleteMessage", "reset"),  # closed before a whole head came
    ("ConnectionReset", "reset"),
    ("BrokenPipe", "reset"),
    ("Parse(", "protocol"),
    ("InvalidInput", "protocol"),
    ("InvalidData", "protocol"),
)

_SENTENCES = {
    "bad_url": "the client refuses the URL",
    "connect_timeout": "no connection in time",
    "dns": "the name does not resolve",
    "idle_timeout": "nothing came for too long",
    "protocol": "the answer is not HTTP",
    "refused": "connection refused",
    "reset": "the connection was broken",
    "tls": "no secure connection",
    "truncated": "the body ended early",
}

_URI = re.compile(r"uri: \S+")
_REASON = re.compile(r'reason: "(\w+)"')


def told(error: Exception, host: str) -> FetchFailed:
    """The failure that this error of the library means."""
    # The URL is somebody else's text and must not be taken for a cause.
    text = _URI.sub("", str(error))
    kind = _kind(error, text)
    sentence = _SENTENCES.get(kind) or text[:200]
    reason = _REASON.search(text)
    detail = f" ({reason[1].lower().replace('_', ' ')})" if reason else ""
    return FetchFailed(kind, f"{host}: {sentence}{detail}")


def _kind(error: Exception, text: str) -> str:
    known = _BY_CLASS.get(type(error))
    if known:
        return known
    causes = _WHILE_CONNECTING if isinstance(error, wreq_errors.ConnectionError) else _AFTER
    return next((kind for mark, kind in causes if mark in text), "network")
