"""Errors of the interval-job contract, with its literal texts."""

from longline.surfaces.error_format import error
from longline.surfaces.operation import ApiError


def log_elsewhere(number: int) -> ApiError:
    """Return the error for a log that another instance has."""
    return error(
        503,
        f"the log of execution {number} is not in the store of this instance: another instance keeps it, or it was"
        " lost; with a common store for logs every instance has it",
    )


JOB_NOT_FOUND = error(404, "Job not found")
EXECUTION_NOT_FOUND = error(404, "Execution not found")
INVALID_JOB_ID = error(400, "Invalid job ID")

URL_NOT_FOUND = error(404, "Frontier URL not found")
NOT_DEAD = error(404, "Frontier URL (or not dead) not found")
INVALID_URL = error(400, "bad URL 'example.com/path': it has no scheme")
OVER_BUDGET = error(400, "the budget of source 42 is used up: it takes in no more URLs")
NOT_RESTARTED = error(409, "cannot restart a task that is crawling; legal now: cancel")

WRONG_STATE = error(400, "invalid state transition from completed to cancelled")
URL_REQUIRED = error(400, "url is required")
BAD_URL = error(400, "bad URL 'example.com': it has no scheme; write it out, as in https://example.com/")
WRONG_TYPE = error(400, "Invalid job type: leadership_scrape")
ALREADY_RECURRING = error(409, "the source 7 has a recurring schedule already")
JOB_CHANGING = error(409, "schedule 7 kept changing")
INTERVAL_REQUIRED = error(400, "interval_minutes is required when schedule_enabled is true")

SCHEDULER_OFF = error(503, "Scheduler not available")

LINK_NOT_FOUND = error(404, "Discovered link not found")
DOMAIN_NOT_FOUND = error(404, "Discovered domain not found")
INVALID_STATUS = error(400, "status must be one of active, ignored, reviewing, promoted")

NO_EXECUTIONS = error(404, "no executions found for job")
NO_LATEST_LOG = error(404, "no logs archived for latest execution")
NO_SUCH_LOG = error(404, "no logs found for specified execution")
NO_STREAMING = error(503, "Log streaming not available")
NO_RESUMABLE_STREAMING = error(503, "Redis streaming not available")
LOG_ELSEWHERE = log_elsewhere(1)

SOURCE_NOT_FOUND = error(404, "Source not found")
NAME_TAKEN = error(409, "there is a source called news")
KEPT_ELSEWHERE = error(409, "source 42 is kept by another service: change it there")
USED_ELSEWHERE = error(
    409,
    "source news is also used by products: take off its use by interval instead,"
    " with longline sources use --id 100001 --remove interval",
)
SOURCE_CHANGING = error(409, "source 100001 kept changing")
INVALID_SOURCE = error(400, "bad URL 'example.com': it has no scheme; write it out, as in https://example.com/")
BUDGET_REQUIRED = error(400, "budget is required; null lifts it")
NO_SOURCES = error(502, "failed to list sources")

TOO_MANY_CONNECTIONS = error(503, "too many connections")
INVALID_SECRET = error(401, "invalid internal auth")

UNKNOWN_PARSER = error(400, "there is no parser 'books'; loaded are article, page")
FORBIDDEN_ADDRESS = error(400, "the URL leads to an address that may not be fetched")
FETCH_FAILED = error(502, "fetch failed: refused")
