"""The bot-pull contract's words: states, priorities, error codes, and the literal texts of errors."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from longline.model.bots.bot_task import AnswerVerdict, Refusal, Repair
from longline.model.errors import NotFound
from longline.model.states import TaskState
from longline.surfaces.operation import NO_HEADERS, ApiError

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

ErrorCode = Literal[
    "validation_error", "authentication_error", "rate_limited", "internal_error", "not_found", "method_not_allowed",
    "job_not_found", "policy_not_found", "result_not_found", "bot_not_found",
    "job_not_locked", "job_locked", "not_assigned", "lock_expired",
]  # fmt: skip

NO_FIELD = "non_field_errors"
"""Key of errors that concern no single field."""

REQUIRED = "This field is required."
BLANK = "This field may not be blank."
NULL_CHARACTERS = "Null characters are not allowed."
NOT_STRINGS = "Expected a list of strings."
UNKNOWN_PARAMETER = "Unknown query parameter."
REPEATED_PARAMETER = "This query parameter may be sent once."
BOTH_NEEDED = "price and currency are required when success=true"
ONE_NEEDED = "Exactly one of url and domain must be set."
OTHER_FORM = "This policy has the other form."

NO_CREDENTIALS = "Authentication credentials were not provided."
INVALID_TOKEN = "Invalid token."
INVALID_KEY = "Invalid API key."

_MISSING: Mapping[str, tuple[ErrorCode, str]] = {
    "schedule": ("policy_not_found", "Policy"),
    "task": ("job_not_found", "Job"),
    "result": ("result_not_found", "Result"),
    "bot": ("bot_not_found", "Bot"),
}


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


def bot_error(
    status: int,
    code: ErrorCode,
    detail: str | Mapping[str, Sequence[str]],
    headers: Mapping[str, str] | None = None,
) -> ApiError:
    """Return an error in the contract's envelope."""
    return ApiError(status, {"success": False, "error": code, "detail": detail}, headers or NO_HEADERS)


def refusal_error(verdict: AnswerVerdict, refusal: Refusal, task: str, bot: str) -> ApiError:
    """Return the error for a refused answer of a bot."""
    match refusal:
        case "missing":
            return missing_error(NotFound("task", task))
        case "not_held":
            return bot_error(400, "job_not_locked", f"Job is in {word(verdict.state)} state, expected locked")
        case "not_yours":
            return bot_error(403, "not_assigned", f"Job locked by {verdict.holder}, not {bot}")
        case "lapsed":
            return bot_error(400, "lock_expired", "Lock TTL exceeded")


def missing_error(error: NotFound) -> ApiError:
    """Return the error for a missing object."""
    code, noun = _MISSING[error.noun]
    return bot_error(404, code, f"{noun} {error.subject} not found")


def locked_error(holder: str) -> ApiError:
    """Return the error for the deletion of a job that a bot holds."""
    return bot_error(409, "job_locked", f"Job locked by {holder}, it cannot be deleted while it is locked")


def field_error(field: str, text: str) -> ApiError:
    """Return the error for one invalid field."""
    return bot_error(400, "validation_error", {field: [text]})


def object_error(found: str) -> ApiError:
    """Return the error for a body that is a JSON value of another type than an object."""
    return field_error(NO_FIELD, f"Invalid data. Expected a dictionary, but got {found}.")


CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}

NOT_JSON = bot_error(400, "validation_error", "JSON parse error - Input data was truncated")
NOT_AN_OBJECT = object_error("list")
UNKNOWN_QUERY = field_error("stauts", UNKNOWN_PARAMETER)
TOO_LARGE = bot_error(413, "validation_error", "Request Entity Too Large")
NOT_ALLOWED = bot_error(403, "authentication_error", "You do not have permission to perform this action.")
INTERNAL_ERROR = bot_error(500, "internal_error", "An unexpected error occurred")
UNAVAILABLE = bot_error(503, "internal_error", "Service temporarily unavailable")

BOT_REFUSALS = (
    bot_error(401, "authentication_error", "Invalid or missing API token"),
    bot_error(403, "authentication_error", "Bot is disabled"),
    bot_error(429, "rate_limited", "Rate limit exceeded, try again in 20 seconds", {"Retry-After": "20"}),
)
"""Errors for bots that are refused before their request is carried out."""

ADMIN_REFUSALS = (
    *(bot_error(401, "authentication_error", text, CHALLENGE) for text in (NO_CREDENTIALS, INVALID_TOKEN)),
    NOT_ALLOWED,
    BOT_REFUSALS[-1],
)
"""Errors for callers that are no admins."""

TAKEN_URL = field_error("url", "A policy with this url already exists.")
TAKEN_NAME = field_error(NO_FIELD, "The fields domain, name must make a unique set.")
TAKEN_BOT = field_error("bot_id", "A bot with this bot_id already exists.")

INVALID_BOT_ID = field_error("bot_id", REQUIRED)
INVALID_IDS = field_error("ids", NOT_STRINGS)
INVALID_LIMIT = field_error("limit", "Ensure this value is greater than or equal to 1.")
INVALID_PRIORITY = field_error("priority", "Ensure this value is less than or equal to 20.")
INVALID_PULL_LIMIT = field_error("max_jobs_per_pull", "Ensure this value is less than or equal to 100.")
INVALID_STATUS = field_error("status", '"lost" is not a valid choice.')
INVALID_URL = field_error("url", "Enter a valid URL.")
INVALID_URLS = field_error("urls", "Enter valid URLs.")
NO_SUBJECT = field_error(NO_FIELD, ONE_NEEDED)
RESULT_INCOMPLETE = field_error(NO_FIELD, BOTH_NEEDED)
WRONG_FORM = field_error("domain", OTHER_FORM)

_JOB = "550e8400-e29b-41d4-a716-446655440000"
_HELD = AnswerVerdict(state=TaskState.PENDING, holder="bot-001")

NO_JOB = missing_error(NotFound("task", _JOB))
NO_POLICY = missing_error(NotFound("schedule", _JOB))
NO_RESULT = missing_error(NotFound("result", _JOB))
NO_BOT = missing_error(NotFound("bot", "bot-001"))
LOCKED_JOB = locked_error("bot-001")
LOCK_REFUSALS = tuple(refusal_error(_HELD, refusal, _JOB, "bot-002") for refusal in get_args(Refusal))
"""Errors for a bot that does not hold the lock on a job."""
