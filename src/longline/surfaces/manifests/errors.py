"""Errors of the manifest contract: codes and literal texts."""

from collections.abc import Mapping
from typing import Literal

from longline.surfaces.operation import NO_HEADERS, ApiError

ErrorCode = Literal[
    "INVALID_PAYLOAD",
    "UNAUTHORIZED",
    "UNSUPPORTED_JOB_TYPE",
    "PAYLOAD_TOO_LARGE",
    "RATE_LIMITED",
    "INTERNAL_ERROR",
    "NOT_FOUND",
    "IDEMPOTENCY_CONFLICT",
    "METHOD_NOT_ALLOWED",
]

RETRY_AFTER_SECONDS = 5
CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}
RETRY_LATER: Mapping[str, str] = {"Retry-After": str(RETRY_AFTER_SECONDS)}


def manifest_error(
    status: int, code: ErrorCode, message: str, headers: Mapping[str, str] = NO_HEADERS, job_id: str | None = None
) -> ApiError:
    """Return an error in the contract's form."""
    named = {"job_id": job_id} if job_id else {}
    return ApiError(status, {"error": {"code": code, "message": message, **named}}, headers)


def invalid(message: str) -> ApiError:
    """Return the error of an invalid request; the message begins with the path of the first wrong field."""
    return manifest_error(400, "INVALID_PAYLOAD", message)


def unauthorized(message: str) -> ApiError:
    """Return the error of a caller without the required credentials."""
    return manifest_error(401, "UNAUTHORIZED", message, CHALLENGE)


def handler_failed(job_id: str) -> ApiError:
    """Return the error of a job whose handler raised."""
    return manifest_error(500, "INTERNAL_ERROR", "the handler of the job type failed", job_id=job_id)


def unsupported(kind: str) -> ApiError:
    """Return the error of a job type that is not configured."""
    return manifest_error(403, "UNSUPPORTED_JOB_TYPE", f"the job type {kind!r} is not configured")


def limited(seconds: int) -> ApiError:
    """Return the error of a caller that exceeds its rate limit."""
    message = f"too many requests, try again in {seconds} seconds"
    return manifest_error(429, "RATE_LIMITED", message, {"Retry-After": str(seconds)})


def unavailable(message: str, job_id: str | None = None) -> ApiError:
    """Return the error of storage or a database that is away."""
    return manifest_error(503, "INTERNAL_ERROR", message, RETRY_LATER, job_id)


TOO_LARGE = manifest_error(413, "PAYLOAD_TOO_LARGE", "the manifest is larger than the limit")
NO_CREDENTIALS = unauthorized("credentials are required")
WRONG_CREDENTIALS = unauthorized("the credentials are not valid")
FORBIDDEN = manifest_error(403, "UNAUTHORIZED", "the role member may not do this; it takes the role admin")
WRONG_TENANT = unauthorized("the credentials are those of another tenant")
NOT_FOUND = manifest_error(404, "NOT_FOUND", "there is no such job")
LETTER_NOT_FOUND = manifest_error(404, "NOT_FOUND", "there is no such dead letter")
UPLOAD_NOT_FOUND = manifest_error(404, "NOT_FOUND", "there is no such upload")
NOUNS_NOT_FOUND: Mapping[str, ApiError] = {"dead letter": LETTER_NOT_FOUND, "upload": UPLOAD_NOT_FOUND}
CONFLICT = manifest_error(
    409, "IDEMPOTENCY_CONFLICT", "the idempotency key was used with another body", job_id="01890a5d-ac96-774b-bcce"
)
INTERNAL_ERROR = manifest_error(500, "INTERNAL_ERROR", "an unexpected error occurred")
UNAVAILABLE = unavailable("the service is temporarily unavailable")
