"""The error format of the interval contract."""

from collections.abc import Mapping, Sequence

from longline.model.errors import BadInput, IllegalMove
from longline.model.states import move
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import ErrorFormat, error, error_response, problem_text
from longline.surfaces.intervals.fields import NO_NUL
from longline.surfaces.operation import ApiError, Operation
from longline.surfaces.request_reader import InvalidRequest, Problem

MISSING: Mapping[str, str] = {
    "schedule": "Job not found",
    "run": "Execution not found",
    "source": "Source not found",
    "URL": "Frontier URL not found",
    "link": "Discovered link not found",
    "domain": "Discovered domain not found",
}
"""The text of a 404, by the missing noun."""

INVALID_SECRET = error(401, "invalid internal auth")

_TEXTS: Mapping[tuple[str, str], str] = {
    ("interval_minutes", "minimum"): "interval_minutes must be greater than 0",
    ("max_retries", "minimum"): "max_retries must not be negative",
    ("retry_backoff_seconds", "minimum"): "retry_backoff_seconds must be greater than 0",
    ("priority", "minimum"): "priority must be between 0 and 100",
    ("priority", "maximum"): "priority must be between 0 and 100",
    ("type", "choice"): "Invalid job type: {value}",
    ("status", "choice"): "Invalid job status: {value}",
}
"""The contract's text of a problem, by field and kind, where it differs from the usual one."""


class IntervalFormat(ErrorFormat):
    """The format of the interval contract, in which a forbidden transition of a job is a bad request."""

    def __init__(self) -> None:
        super().__init__(MISSING)

    def failure(self, found: Exception) -> HttpResponse:
        """Return the response to an error."""
        if isinstance(found, IllegalMove):
            became = move("schedule", found.move).became
            return error_response(error(400, f"invalid state transition from {found.state} to {became}"))
        return super().failure(found)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        general = super().general_errors(operation)
        if operation.access != "internal":
            return general
        return (INVALID_SECRET, *(each for each in general if each.status != INVALID_SECRET.status))

    def invalid_text(self, found: BadInput) -> str:
        """Return the text of a request that cannot be read."""
        return _text(found.problems[0]) if isinstance(found, InvalidRequest) else super().invalid_text(found)


def _text(problem: Problem) -> str:
    if problem.kind == "pattern" and problem.expected == NO_NUL:
        return f"{problem.field} has a NUL character"
    if problem.kind == "choice" and not isinstance(problem.value, str):
        return f"{problem.field} must be a string"
    text = _TEXTS.get((problem.field, problem.kind))
    return problem_text(problem) if text is None else text.format(value=problem.value)
