"""Errors of the catalogue contract: codes and literal texts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from longline.surfaces.operation import NO_HEADERS, ApiError

ErrorCode = Literal[
    "VALIDATION_ERROR", "UNAUTHORIZED", "TOKEN_EXPIRED", "TOKEN_INVALID", "FORBIDDEN", "NOT_FOUND", "CONFLICT",
    "METHOD_NOT_ALLOWED", "PAYLOAD_TOO_LARGE", "LIMIT_EXCEEDED", "RATE_LIMITED", "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
]  # fmt: skip

CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


def catalogue_error(
    status: int,
    code: ErrorCode,
    text: str,
    details: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] = NO_HEADERS,
) -> ApiError:
    """Return an error in the contract's form."""
    body: dict[str, Any] = {"error": text, "code": code}
    return ApiError(status, body | ({"details": list(details)} if details else {}), headers)


def invalid(text: str, field: str | None = None) -> ApiError:
    """Return the error of a request that breaks a rule; `field` names the field that does."""
    return catalogue_error(400, "VALIDATION_ERROR", text, [{"field": field, "message": text}] if field else ())


def missing(noun: str) -> ApiError:
    """Return the error of a thing that does not exist."""
    return catalogue_error(404, "NOT_FOUND", f"{noun} not found")


def used_elsewhere(name: str, uses: Iterable[str]) -> str:
    """Return the text of the refusal to delete a source that other APIs use."""
    return f"Source {name} is also used by {', '.join(uses)} and cannot be deleted here"


NO_SOURCE = missing("Source")
NO_COMIC = missing("Comic")
NO_MAPPING = missing("Mapping")
NO_JOB = missing("Job")
NO_AUDIT = missing("Audit entry")
NO_SETTING = missing("Setting")
UNKNOWN_JOB_KEY = catalogue_error(404, "NOT_FOUND", "Unknown job key")
MISSING: Mapping[str, ApiError] = {
    "source": NO_SOURCE,
    "series": NO_COMIC,
    "target": NO_MAPPING,
    "run": NO_JOB,
    "audit row": NO_AUDIT,
    "door setting": NO_SETTING,
    "maintenance task": UNKNOWN_JOB_KEY,
}
"""The error for each noun that can be missing."""

NAME_TAKEN = catalogue_error(409, "CONFLICT", "A source with this name already exists")
SLUG_TAKEN = catalogue_error(409, "CONFLICT", "A source with this slug already exists")
COMIC_SLUG_TAKEN = catalogue_error(409, "CONFLICT", "A comic with this slug already exists")
HAS_RUNNING_JOBS = catalogue_error(409, "CONFLICT", "Cannot delete a source with running jobs. Cancel all jobs first.")
ALREADY_LINKED = catalogue_error(
    409, "CONFLICT", "This comic is already linked to the specified source with this external ID"
)
JOB_EXISTS = catalogue_error(409, "CONFLICT", "A job for this comic and source is already queued or running.")
ALREADY_RUNNING = catalogue_error(409, "CONFLICT", "This job is already running")
NOT_RUNNING = catalogue_error(409, "CONFLICT", "This job is not running")
USED_ELSEWHERE = catalogue_error(409, "CONFLICT", used_elsewhere("news", ["products"]))
KEPT_ELSEWHERE = catalogue_error(409, "CONFLICT", "source 42 is kept by another service: change it there")
SOURCE_DISABLED = invalid("Source is disabled. Enable the source before triggering a job.")
NOT_LINKED = invalid("Comic is not linked to this source (no comicsource mapping found).")
HAS_FINISHED = invalid("Job cannot be cancelled — it has already finished")
INVALID_CRON = invalid("Invalid cron expression")
BASE_URL_TEXT = "BaseURL must be a valid HTTPS URL"
SOURCE_URL_TEXT = "SourceURL must be a valid HTTPS URL"
INVALID_BASE_URL = invalid(BASE_URL_TEXT, "baseurl")
INVALID_SOURCE_URL = invalid(SOURCE_URL_TEXT, "sourceurl")
INVALID_FIELD = invalid("name is required", "name")
INVALID_QUERY = invalid("isenabled must be true or false", "isenabled")
NOT_JSON = invalid("Invalid request body: not JSON")
TOO_LARGE = catalogue_error(413, "PAYLOAD_TOO_LARGE", "Request Entity Too Large")
NO_TOKEN = catalogue_error(401, "UNAUTHORIZED", "Authentication required", headers=CHALLENGE)
BAD_HEADER = catalogue_error(401, "UNAUTHORIZED", "Invalid authorization format", headers=CHALLENGE)
TOKEN_EXPIRED = catalogue_error(401, "TOKEN_EXPIRED", "Token has expired", headers=CHALLENGE)
TOKEN_INVALID = catalogue_error(401, "TOKEN_INVALID", "Token is invalid", headers=CHALLENGE)
FORBIDDEN = catalogue_error(403, "FORBIDDEN", "Insufficient permissions")
INTERNAL_ERROR = catalogue_error(500, "INTERNAL_ERROR", "An unexpected error occurred")
UNDER_MAINTENANCE = catalogue_error(
    503,
    "SERVICE_UNAVAILABLE",
    "The service is under maintenance. Please try again later.",
    headers={"Retry-After": "3600"},
)
UNAVAILABLE = catalogue_error(503, "SERVICE_UNAVAILABLE", "Service temporarily unavailable")


def rate_limited(seconds: int) -> ApiError:
    """Return the error of a caller that sends too many requests."""
    text = f"Too many requests. Please try again in {seconds} seconds."
    return catalogue_error(429, "RATE_LIMITED", text, headers={"Retry-After": str(seconds)})
