"""Statuses of jobs, their states, and their priorities in the bot-pull contract."""

from collections.abc import Mapping
from typing import Literal

from longline.model.bots.bot_task import Repair
from longline.model.states import TaskState

JobStatus = Literal["pending", "locked", "done", "failed", "expired"]

TASK_WORDS: Mapping[TaskState, JobStatus] = {
    TaskState.PENDING: "pending",
    TaskState.QUEUED: "locked",
    TaskState.CRAWLING: "locked",
    TaskState.DOWNLOADED: "locked",
    TaskState.QUEUED_PARSE: "locked",
    TaskState.PARSING: "locked",
    TaskState.COMPLETED: "done",
    TaskState.SKIPPED: "done",
    TaskState.FAILED: "failed",
    TaskState.PAUSED: "pending",
    TaskState.CANCELLED: "failed",
    TaskState.EXPIRED: "expired",
}

STATES: Mapping[JobStatus, TaskState] = {
    "pending": TaskState.PENDING,
    "locked": TaskState.CRAWLING,
    "done": TaskState.COMPLETED,
    "failed": TaskState.FAILED,
    "expired": TaskState.EXPIRED,
}
"""The contract's five statuses, and the state of a bot's task in each."""

RepairName = Literal["mark-pending", "mark-expired", "reset-lock"]
REPAIRS: Mapping[RepairName, Repair] = {"mark-pending": "restart", "mark-expired": "expire", "reset-lock": "release"}

PRIORITY_SUM = 505
"""Sum of a contract priority, which counts upwards, and the stored one: the contract's normal 5 is stored as 500."""


def word(state: str) -> JobStatus:
    """Return the contract's word for a task's state."""
    return TASK_WORDS[TaskState(state)]


def job_counts(states: Mapping[str, int]) -> dict[JobStatus, int]:
    """Return the number of tasks of each status."""
    counts = dict.fromkeys(STATES, 0)
    for state, count in states.items():
        counts[word(state)] += count
    return counts


def stored_priority(priority: int) -> int:
    """Return a contract priority as stored."""
    return PRIORITY_SUM - priority


def shown_priority(priority: int) -> int:
    """Return a stored priority as in the contract."""
    return PRIORITY_SUM - priority
