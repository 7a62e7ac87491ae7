"""The error format of the interval contract."""

from collections.abc import Mapping, Sequence

from longline.model.errors import BadInput, IllegalMove
from longline.model.states import move
from longline.services.page_preview import NoPreview
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import ErrorFormat, error, error_response, problem_text
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.intervals.errors import INVALID_SECRET
from longline.surfaces.intervals.field_types import NO_NUL
from longline.surfaces.operation import ApiError, Operation

MISSING: Mapping[str, str] = {
    "schedule": "Job not found",
    "run": "Execution not found",
    "source": "Source not found",
    "URL": "Frontier URL not found",
    "link": "Discovered link not found",
    "domain": "Discovered domain not found",
}
"""The text of a 404, by the missing noun."""


class IntervalFormat(ErrorFormat):
    """The format of the interval contract: a forbidden transition of a job is a bad request, a failed fetch is 502."""

    def __init__(self) -> None:
        super().__init__(MISSING)

    def failure(self, found: Exception) -> HttpResponse:
        """Return the response to an error."""
        match found:
            case IllegalMove(noun="schedule"):
                became = move("schedule", found.move).became
                return error_response(error(400, f"invalid state transition from {found.state} to {became}"))
            case NoPreview():
                return error_response(error(502, str(found)))
        return super().failure(found)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        general = super().general_errors(operation)
        if operation.access != "internal":
            return general
        return (INVALID_SECRET, *(each for each in general if each.status not in (401, 403, 429)))

    def invalid_text(self, found: BadInput) -> str:
        """Return the text of a request that cannot be read."""
        return _text(found.problems[0]) if isinstance(found, InvalidRequest) else super().invalid_text(found)


def _text(problem: Problem) -> str:
    if problem.kind == "pattern" and problem.expected == NO_NUL:
        return f"{problem.field} has a NUL character"
    if problem.kind == "choice" and not isinstance(problem.value, str):
        return f"{problem.field} must be a string"
    if problem.kind == "unknown":
        return f"{problem.field} is not a known field"
    return problem_text(problem)
