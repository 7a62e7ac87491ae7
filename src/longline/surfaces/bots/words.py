"""The words of the bot-pull contract for our states, refusals and priorities."""

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
"""The contract's five words, and the state that a task of a bot has then."""

REPAIRS: dict[str, Repair] = {"mark-pending": "restart", "mark-expired": "expire", "reset-lock": "release"}

_TURN = 505
"""Priorities of the contract count upwards, stored ones downwards: its normal 5 is our default of 500."""


class BotError(NamedTuple):
    """An answer that is an error: its status, its code and what it says."""

    status: int
    code: str
    detail: str


def word(state: str) -> str:
    """The contract's word for where a task stands."""
    return TASK_WORDS[TaskState(state)]


def stored(priority: int) -> int:
    """A priority of the contract as it is stored."""
    return _TURN - priority


def shown(priority: int) -> int:
    """A stored priority as the contract has it."""
    return _TURN - priority


def refused(verdict: AnswerVerdict, refusal: Refusal, task: str, bot: str) -> BotError:
    """The contract's words for a refusal."""
    match refusal:
        case "missing":
            return BotError(404, "job_not_found", f"Job {task} not found")
        case "not_held":
            return BotError(400, "job_not_locked", f"Job is in {word(verdict.state)} state, expected locked")
        case "not_yours":
            return BotError(403, "not_assigned", f"Job locked by {verdict.holder}, not {bot}")
        case "lapsed":
            return BotError(400, "lock_expired", "Lock TTL exceeded")
