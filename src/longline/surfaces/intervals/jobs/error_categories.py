"""The interval contract's categories of errors, by the reasons of failed URLs."""

from typing import Literal

ErrorCategory = Literal["network", "timeout", "http_client", "http_server"]

CATEGORIES: dict[str, ErrorCategory] = {
    "dns": "network",
    "refused": "network",
    "reset": "network",
    "truncated": "network",
    "protocol": "network",
    "network": "network",
    "tls": "network",
    "proxy_refused": "network",
    "proxy_auth": "network",
    "proxy_failed": "network",
    "proxy_exhausted": "network",
    "render_failed": "network",
    "connect_timeout": "timeout",
    "idle_timeout": "timeout",
    "total_timeout": "timeout",
    "http_408": "http_client",
    "http_425": "http_client",
    "http_429": "http_client",
    "http_4xx": "http_client",
    "login_failed": "http_client",
    "odd_status": "http_client",
    "http_5xx": "http_server",
    "egress": "network",
    "too_large": "network",
    "bad_encoding": "network",
    "bad_url": "http_server",
    "too_many_redirects": "http_server",
    "redirect_loop": "http_server",
}
"""Error category of a failed request, by reason; other reasons are not failures of a request."""
