"""Reasons: why a task rests where it rests. One word each; every failure class has exactly one."""

from longline.model.states import TaskState

OK = "ok"

RETRYABLE = frozenset(
    {
        "dns",
        "refused",
        "connect_timeout",
        "idle_timeout",
        "total_timeout",
        "reset",
        "truncated",
        "protocol",
        "network",
        "proxy_refused",
        "proxy_auth",
        "proxy_failed",
        "proxy_exhausted",
        "http_429",
        "http_5xx",
        "internal",
    }
)
"""Failures that another attempt may cure."""

FINAL = frozenset(
    {
        "egress",
        "tls",
        "too_large",
        "bad_encoding",
        "bad_url",
        "too_many_redirects",
        "redirect_loop",
        "http_4xx",
        "parser_error",
        "worker_lost",
        "page_lost",
    }
)
"""Failures that stay failures."""

SKIPPED = frozenset({"robots", "content_type", "redirected", "budget"})
"""Reasons for not wanting a page after all."""

REFUSED = frozenset(
    {
        "known",
        "depth",
        "offsite",
        "excluded",
        "not_included",
        "trap",
        "budget",
        "scheme",
        "bad_url",
        "too_long",
        "run_ended",
    }
)
"""Reasons for which a URL is never admitted."""


def for_status(status: int) -> str | None:
    """The failure that an HTTP status means, or None for one that is a page."""
    if status == 429:
        return "http_429"
    if status >= 500:
        return "http_5xx"
    return "http_4xx" if status >= 400 else None


def rest(reason: str, attempt: int, max_attempts: int) -> TaskState:
    """Where a task comes to rest for this reason after this many attempts."""
    if reason == OK:
        return TaskState.COMPLETED
    if reason in SKIPPED:
        return TaskState.SKIPPED
    return TaskState.PENDING if reason in RETRYABLE and attempt < max_attempts else TaskState.FAILED


def back_off(attempt: int, base: float = 1.0, cap: float = 3600.0) -> float:
    """Seconds to wait after this many attempts: the base, doubled each time, up to the cap."""
    return float(min(base * 2 ** min(max(attempt - 1, 0), 30), cap))
