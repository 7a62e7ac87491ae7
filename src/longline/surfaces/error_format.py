"""The format that most APIs here share: JSON bodies without an envelope, and errors as `{"error": text}`."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from litestar.exceptions import HTTPException

from longline.model.callers.caller import NotAllowed
from longline.model.errors import BadInput, Conflict, IllegalMove, LonglineError, NotFound, StaleLease, Unavailable
from longline.services.callers.rate_limits import TooOften
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import EmptyBody, HttpResponse
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import NO_HEADERS, ApiError, ApiFailure, Operation
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

STATUS: Mapping[type[LonglineError], int] = {
    BadInput: 400,
    NotFound: 404,
    IllegalMove: 409,
    Conflict: 409,
    StaleLease: 409,
}
"""Status of each kind of error."""

INTERNAL_ERROR = ApiError(
    500,
    {"error": "Internal server error", "code": "INTERNAL_ERROR", "message": "An unexpected error occurred"},
)
CHALLENGE: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}
_REFUSALS = {"missing": "missing authorization", "key": "invalid API key"}
_ARTICLES = {"string": "a string", "integer": "an integer", "boolean": "a boolean", "object": "an object"}
_FORMS = TextForms(booleans={"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False})

_log = logging.getLogger(__name__)


class ErrorBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an error; only unexpected errors have a code and a message."""

    error: str
    code: str | None = None
    message: str | None = None


def error(status: int, text: str, headers: Mapping[str, str] = NO_HEADERS) -> ApiError:
    """Return an error with this text."""
    return ApiError(status, {"error": text}, headers)


UNAUTHORIZED = tuple(error(401, text, CHALLENGE) for text in ("missing authorization", "invalid token"))
FORBIDDEN = error(403, "the role member may not do this; it takes the role admin or moderator")
RATE_LIMITED = error(429, "Rate limit exceeded, try again in 2 seconds", {"Retry-After": "2"})
UNAVAILABLE = error(503, "Service temporarily unavailable")
NUL_IN_URL = error(400, "Invalid address: NUL character")


class PlainFormat:
    """Defaults of a format: JSON without an envelope, any query accepted, and an empty body read as an empty object."""

    def wrap(self, value: Any) -> Any:
        """Return the value: there is no envelope."""
        return value

    def wrapped_type(self, answer: Any) -> Any:
        """Return the type: there is no envelope."""
        return answer

    def encode(self, value: Any) -> bytes:
        """Return a value as JSON."""
        return msgspec.json.encode(value)

    def reader(self, shape: type[msgspec.Struct]) -> RequestReader[Any]:
        """Return the reader of a body."""
        return RequestReader(shape)

    def check_unread_query(self, operation: Operation, sent: Sequence[tuple[str, str]]) -> None:
        """Accept any query."""

    def read_path_value(self, text: str) -> str:
        """Return the text as it is."""
        return text

    def reads_empty_body(self, _: Operation, /) -> bool:
        """Return True: an empty body counts as an empty object."""
        return True


class ErrorFormat(PlainFormat):
    """The format of responses and errors. `missing` has the text of a 404 for each noun that can be missing."""

    error_type: type[msgspec.Struct] = ErrorBody
    decimal_type: Literal["string", "number"] = "string"

    def __init__(self, missing: Mapping[str, str] | None = None) -> None:
        self._missing = missing or {}

    def failure(self, found: Exception) -> HttpResponse:
        """Return the response to an error; an unexpected error is logged, and answered without details."""
        match found:
            case ApiFailure():
                return error_response(found.error)
            case TokenRefused() | NotAllowed() | TooOften():
                return error_response(_refusal(found))
            case InvalidRequest() | NotJson() | NotAnObject():
                return error_response(error(400, self.invalid_text(found)))
            case Unavailable():
                # The text of the error may contain internal addresses.
                _log.warning("answered 503", extra={"reason": str(found)})
                return error_response(UNAVAILABLE)
            case LonglineError():
                return self._known(found)
            case HTTPException() if found.status_code < 500:
                return error_response(error(found.status_code, found.detail, dict(found.headers or {})))
        _log.error("unhandled error", exc_info=found)
        return error_response(INTERNAL_ERROR)

    def _known(self, found: LonglineError) -> HttpResponse:
        status = next((STATUS[kind] for kind in type(found).__mro__ if kind in STATUS), None)
        if status is None:
            _log.error("unhandled error", exc_info=found)
            return error_response(INTERNAL_ERROR)
        noun = found.noun if isinstance(found, NotFound) else None
        return error_response(error(status, self._missing.get(noun or "", str(found))))

    def invalid_text(self, found: BadInput) -> str:
        """Return the text of a request that cannot be read."""
        match found:
            case InvalidRequest():
                return problem_text(found.problems[0])
            case EmptyBody():
                return "Invalid request body: it is empty"
            case NotAnObject():
                return "Invalid request body: not a JSON object"
        return "Invalid request body: not JSON"

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        refused = () if operation.access == "public" else (*UNAUTHORIZED, FORBIDDEN, RATE_LIMITED)
        address = (NUL_IN_URL,) if operation.path_parameters or "query" in operation.parameters else ()
        body = () if operation.body is None else (error(400, "Invalid request body: not JSON"), TOO_LARGE)
        return (*refused, *address, *body, INTERNAL_ERROR, UNAVAILABLE)

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query; wrong values mean the default, and large ones the bound."""
        first: dict[str, str] = {}
        for name, value in sent:
            first.setdefault(name, value)
        found: msgspec.Struct = reader.lenient_text(first, _FORMS)
        return found

    def reads_empty_body(self, _: Operation, /) -> bool:
        """Return False: an empty body is none."""
        return False


TOO_LARGE = error(413, "Request Entity Too Large")

_TEXTS: Mapping[str, Callable[[Problem], str]] = {
    "missing": lambda problem: f"{problem.field} is required",
    "null": lambda problem: f"{problem.field} is required",
    "type": lambda problem: f"{problem.field} must be {_ARTICLES.get(problem.expected, f'a {problem.expected}')}",
    "minimum": lambda problem: f"{problem.field} must be at least {problem.expected}",
    "maximum": lambda problem: f"{problem.field} is too large",
    "too_short": lambda problem: f"{problem.field} is required",
    "too_long": lambda problem: f"{problem.field} is too long",
    "too_few": lambda problem: f"{problem.field} must have at least {problem.expected} entries",
    "too_many": lambda problem: f"{problem.field} has more than {problem.expected} entries",
    "pattern": lambda problem: f"{problem.field} is not valid",
    "choice": lambda problem: f"{problem.field} must be one of {', '.join(map(str, problem.expected))}",
    "unknown": lambda problem: f"{problem.field} is not known",
    "repeated": lambda problem: f"{problem.field} was sent twice",
    "check": lambda problem: str(problem.expected),
}
"""The text of each kind of problem."""


def _refusal(found: TokenRefused | NotAllowed | TooOften) -> ApiError:
    """Return the error of a caller that is not served."""
    match found:
        case TokenRefused():
            _log.info("token refused", extra={"kind": found.kind})
            return error(401, _REFUSALS.get(found.kind, "invalid token"), CHALLENGE)
        case NotAllowed():
            _log.info("caller not allowed", extra={"why": found.why})
            return error(403, str(found))
        case TooOften():
            return error(429, str(found), {"Retry-After": str(found.seconds)})


def problem_text(problem: Problem) -> str:
    """Return the text of a problem; the text of a field may contain its `{value}`."""
    return _TEXTS[problem.kind](problem) if problem.text is None else problem.text.format(value=problem.value)


def error_response(found: ApiError) -> HttpResponse:
    """Return the response with an error."""
    return HttpResponse(found.status, msgspec.json.encode(found.body), found.headers)
