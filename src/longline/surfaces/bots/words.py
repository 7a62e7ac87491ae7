"""The bot-pull contract's words for states, refusals and priorities."""

from typing import NamedTuple

from longline.model.bots.bot import AnswerVerdict, Refusal, Repair
from longline.model.states import TaskState

TASK_WORDS: dict[TaskState, str] = {
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

STATES: dict[str, TaskState] = {
    "pending": TaskState.PENDING,
    "locked": TaskState.CRAWLING,
    "done": TaskState.COMPLETED,
    "failed": TaskState.FAILED,
    "expired": TaskState.EXPIRED,
}
"""The contract's five statuses, and the state of a bot's task in each."""

REPAIRS: dict[str, Repair] = {"mark-pending": "restart", "mark-expired": "expire", "reset-lock": "release"}

_TURN = 505
"""Sum of a contract priority, which counts upwards, and the stored one: the contract's normal 5 is stored as 500."""


class BotError(NamedTuple):
    """An error response: its status, code and detail."""

    status: int
    code: str
    detail: str


def word(state: str) -> str:
    """Return the contract's word for a task's state."""
    return TASK_WORDS[TaskState(state)]


def stored(priority: int) -> int:
    """Return a contract priority as stored."""
    return _TURN - priority


def shown(priority: int) -> int:
    """Return a stored priority as in the contract."""
    return _TURN - priority


def refused(verdict: AnswerVerdict, refusal: Refusal, task: str, bot: str) -> BotError:
    """Return the contract's error for a refusal."""
    match refusal:
        case "missing":
            return BotError(404, "job_not_found", f"Job {task} not found")
        case "not_held":
            return BotError(400, "job_not_locked", f"Job is in {word(verdict.state)} state, expected locked")
        case "not_yours":
            return BotError(403, "not_assigned", f"Job locked by {verdict.holder}, not {bot}")
        case "lapsed":
            return BotError(400, "lock_expired", "Lock TTL exceeded")
