"""Errors of the bot-pull contract: codes and literal texts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from longline.model.bots.bot_task import AnswerVerdict, Refusal
from longline.model.errors import NotFound
from longline.model.states import TaskState
from longline.surfaces.bots.job_statuses import word
from longline.surfaces.field_problems import Problem
from longline.surfaces.operation import NO_HEADERS, ApiError

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

_TYPE_TEXTS: Mapping[str, str] = {
    "string": "Not a valid string.",
    "integer": "A valid integer is required.",
    "boolean": "Must be a valid boolean.",
    "list": NOT_STRINGS,
}

_TEXTS: Mapping[str, str] = {
    "missing": REQUIRED,
    "null": "This field may not be null.",
    "minimum": "Ensure this value is greater than or equal to {expected}.",
    "maximum": "Ensure this value is less than or equal to {expected}.",
    "too_short": BLANK,
    "too_long": "Ensure this field has no more than {expected} characters.",
    "too_few": "Ensure this field has at least {expected} elements.",
    "too_many": "Ensure this field has no more than {expected} elements.",
    "unknown": UNKNOWN_PARAMETER,
    "repeated": REPEATED_PARAMETER,
}
"""The text of each kind of problem that does not depend on the value."""

_MISSING: Mapping[str, tuple[ErrorCode, str]] = {
    "schedule": ("policy_not_found", "Policy"),
    "task": ("job_not_found", "Job"),
    "result": ("result_not_found", "Result"),
    "bot": ("bot_not_found", "Bot"),
}


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


def problem_texts(problems: Iterable[Problem]) -> dict[str, list[str]]:
    """Return the contract's texts of problems, by field; a problem of a list's entry is one of the list."""
    texts: dict[str, list[str]] = {}
    for problem in problems:
        field, bracket, _ = problem.field.partition("[")
        text = NOT_STRINGS if bracket else problem.text or _text(problem)
        known_texts = texts.setdefault(field, [])
        if text not in known_texts:
            known_texts.append(text)
    return texts


def _text(problem: Problem) -> str:
    match problem.kind:
        case "check":
            return str(problem.expected)
        case "type":
            other = f'Expected a dictionary of items but got type "{type(problem.value).__name__}".'
            return _TYPE_TEXTS.get(problem.expected, other)
        case "pattern" | "choice" if "\0" in str(problem.value) and str(problem.value).strip():
            return NULL_CHARACTERS
        case "pattern":
            return BLANK
        case "choice":
            return f'"{problem.value}" is not a valid choice.'
    return _TEXTS[problem.kind].format(expected=problem.expected)
