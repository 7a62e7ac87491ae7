"""The interval contract's words for states, skip reasons and errors."""

from typing import Literal

from longline.model.states import RunState, ScheduleState

JobStatus = Literal["pending", "scheduled", "running", "paused", "completed", "failed", "cancelled"]
ExecutionStatus = Literal["running", "completed", "failed", "cancelled"]
ErrorCategory = Literal["network", "timeout", "http_client", "http_server"]
SkippedReason = Literal["job_running", "protection_window", "placement_cooldown", "retry_pending"]

SCHEDULE_WORDS: dict[str, JobStatus] = {
    ScheduleState.PENDING: "pending",
    ScheduleState.SCHEDULED: "scheduled",
    ScheduleState.RUNNING: "running",
    ScheduleState.PAUSED: "paused",
    ScheduleState.COMPLETED: "completed",
    ScheduleState.FAILED: "failed",
    ScheduleState.CANCELLED: "cancelled",
}

RUN_WORDS: dict[str, ExecutionStatus] = {
    RunState.QUEUED: "running",  # an execution is live from the moment its job is
    RunState.RUNNING: "running",
    RunState.COMPLETED: "completed",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "cancelled",
}

SKIPPED_WORDS: dict[str, SkippedReason] = {
    "running": "job_running",
    "protected": "protection_window",
    "cooldown": "placement_cooldown",
    "retrying": "retry_pending",
}
"""Reasons for not moving a job to another slot."""

SKIPS: dict[tuple[str, str], str] = {
    ("skipped", "content_type"): "non_html",
    ("refused", "depth"): "max_depth",
    ("skipped", "robots"): "robots_txt",
    ("refused", "never_follow"): "url_filter",
    ("without_item", "page_type"): "page_type",
    ("without_item", "quality_gate"): "quality_gate",
    ("without_item", "noindex"): "noindex",
}
"""Fates, each with its reason, that count as skipped pages or links."""

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
