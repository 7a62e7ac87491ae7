"""The interval contract's words for states and skip reasons."""

from typing import Literal

from longline.model.states import RunState, ScheduleState

JobStatus = Literal["pending", "scheduled", "running", "paused", "completed", "failed", "cancelled"]
ExecutionStatus = Literal["running", "completed", "failed", "cancelled"]
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
