"""The library's errors as `FetchFailed`, and the decision between proxy fault and target fault.

The library's error classes are coarse; the cause stands in the error text, which is Rust's debug print. The tests
provoke every failure for real, so a change of that text is noticed.

Through a proxy the same symptom may come from the proxy or from the target. A SOCKS proxy reports which; without a
report, a connection that fails or breaks off counts against the proxy, since another proxy can be tried at no cost to
the page. Failures that only the target can cause stay with the target: a certificate, a long silence once connected.
"""

import logging
import re

from wreq import exceptions as wreq_errors

from longline.drivers.http.route import Route
from longline.ports.http import FetchFailed

log = logging.getLogger(__name__)

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
"""Errors that a request may raise; the classes have no common base class of their own."""

_BY_CLASS: dict[type[Exception], str] = {
    wreq_errors.BuilderError: "bad_url",
    wreq_errors.ConnectionResetError: "reset",
    wreq_errors.TimeoutError: "idle_timeout",
    wreq_errors.TlsError: "tls",
}

_REMOTE = ", Remote)"  # HTTP/2: the server itself ended the stream, or all of them

_WHILE_CONNECTING = (
    ("TimedOut", "connect_timeout"),
    ("ConnectionRefused", "refused"),
    ("dns error", "dns"),
    ("ErrorStack", "tls"),
    ("SYSCALL", "reset"),  # the server closed the connection during the TLS handshake
    ("ConnectionReset", "reset"),
)

_REACHING_OUT = (
    ("Socks(ConnectionRefused)", "refused"),
    ("Socks(HostUnreachable)", "network"),
    ("Socks(TtlExpired)", "connect_timeout"),  # SOCKS proxies also report it when the target did not answer
    ("ProxyAuthRequired", "proxy_auth"),
    ("PasswordAuthFailure", "proxy_auth"),
    ("NoAcceptableAuthMethods", "proxy_auth"),
    ("AuthorizationRequired", "proxy_auth"),
    ("UnknownAuthMethod", "proxy_auth"),
    ("ConnectionNotAllowedByRuleset", "proxy_refused"),
    ("ConnectionRefused", "proxy_refused"),
)
"""Kinds of failures of a proxy connection; all others are `proxy_failed`."""

_AFTER = (
    (", Library)", "protocol"),  # HTTP/2: the response violates the protocol
    (_REMOTE, "reset"),
    ("TimedOut", "idle_timeout"),
    ("UnexpectedEof", "truncated"),
    ("IncompleteBody", "truncated"),
    ("IncompleteMessage", "reset"),  # closed before the head was complete
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
    "network": "the request failed",
    "proxy_auth": "wants a password, or another one",
    "proxy_failed": "the connection failed",
    "proxy_refused": "connection refused",
    "refused": "connection refused",
    "reset": "the connection was broken",
    "tls": "no secure connection",
    "truncated": "the body ended early",
}

_UNNAMED = frozenset({"network", "proxy_failed"})
"""Kinds without a known cause; the text of the library is logged."""

_CLOSED = ("IncompleteMessage", "ConnectionReset", "BrokenPipe", "UnexpectedEof", "ConnectionAborted", "NotConnected")
_UNSENT = ("(Canceled", "(ChannelClosed")
_BEFORE_ANSWER = "kind: SendRequest"

_BROKEN_OFF = frozenset(("connect_timeout", "reset", "truncated"))

_QUOTED = re.compile(r'uri: \S+|b"(?:[^"\\]|\\.)*"')
_REASON = re.compile(r'reason: "(\w+)"')
_CONNECTION = re.compile(r"local_addr: (\S+) }")


def fetch_failure(error: Exception, route: Route) -> FetchFailed:
    """Return the `FetchFailed` for an error of the library."""
    # The URL and the server's GOAWAY text are foreign texts, and must not be read as a cause.
    text = _QUOTED.sub("", str(error))
    kind = _kind(error, text)
    if kind in _UNNAMED:
        log.debug("request failed", extra={"error": text})
    sentence = _SENTENCES.get(kind, _SENTENCES["network"])
    reason = _REASON.search(text)
    detail = f" ({reason[1].lower().replace('_', ' ')})" if reason else ""
    if route.proxy is None:
        return FetchFailed(kind, f"{route.hostname}: {sentence}{detail}")
    blamed = _blamed(error, text, kind, route)
    if blamed is None:
        return FetchFailed(kind, f"{route.hostname}, through {route.proxy.label}: {sentence}{detail}")
    return FetchFailed(blamed, f"proxy {route.proxy.label}: {sentence}{detail}", proxy_fault=True)


def closed_connection(error: Exception) -> str | None:
    """Return the local address of a connection that ended before the head of a response was complete, or None.

    A stream that an HTTP/2 server has reset does not count: the connection is alive, and the reset is the answer.
    """
    text = _QUOTED.sub("", str(error))
    if _BEFORE_ANSWER not in text or _REMOTE in text or not any(mark in text for mark in (*_CLOSED, *_UNSENT)):
        return None
    found = _CONNECTION.search(text)
    return found[1] if found else None


def tunnel_refused(route: Route, status: int | None) -> FetchFailed:
    """Return the failure for an HTTP proxy that answers with this status itself, instead of opening the way."""
    kind = {401: "proxy_auth", 407: "proxy_auth", 403: "proxy_refused"}.get(status or 0, "proxy_failed")
    label = route.proxy.label if route.proxy else route.hostname
    return FetchFailed(kind, f"proxy {label}: {f'says {status}' if status else 'opens no tunnel'}", proxy_fault=True)


def is_tunnel_refused(error: Exception) -> bool:
    """Return whether an HTTP proxy refused a tunnel; the library does not expose the proxy's status."""
    return isinstance(error, wreq_errors.ProxyConnectionError) and "TunnelUnsuccessful" in str(error)


def _kind(error: Exception, text: str) -> str:
    known = _BY_CLASS.get(type(error))
    if known:
        return known
    if isinstance(error, wreq_errors.ProxyConnectionError):
        return _first(_REACHING_OUT, text) or "proxy_failed"
    causes = _WHILE_CONNECTING if isinstance(error, wreq_errors.ConnectionError) else _AFTER
    return _first(causes, text) or "network"


def _first(causes: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((kind for mark, kind in causes if mark in text), None)


def _blamed(error: Exception, text: str, kind: str, route: Route) -> str | None:
    """Return the kind of the proxy's fault, or None when the fault is the target's."""
    if isinstance(error, wreq_errors.ProxyConnectionError):
        return kind if kind.startswith("proxy_") else None
    # A forwarding proxy writes the response itself, so a protocol error is its own; tunnelled bytes are the target's.
    broken = kind in _BROKEN_OFF or (kind == "protocol" and route.forwarded)
    return "proxy_failed" if broken and _REMOTE not in text else None
