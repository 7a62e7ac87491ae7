"""The format of the product-tasks contract: envelope, error codes, and the texts of invalid fields."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import msgspec
from litestar.exceptions import HTTPException

from longline.model.callers.caller import NotAllowed
from longline.model.errors import (
    BadInput,
    Conflict,
    IllegalMove,
    LonglineError,
    NotFound,
    StaleLease,
    Unavailable,
)
from longline.model.proxies.proxy import NoProxies
from longline.services.callers.rate_limits import TooOften
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import ErrorFormat, PlainFormat, problem_text
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiError, ApiFailure, Operation
from longline.surfaces.products import errors
from longline.surfaces.products.envelope import ProductFailure, enveloped, enveloped_type
from longline.surfaces.products.errors import ErrorCode, product_error
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

_FORMS = TextForms(re.compile(r"-?[0-9]{1,18}"), {"true": True, "1": True, "false": False, "0": False})
_STATUS_CODES: Mapping[int, ErrorCode] = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "PAYLOAD_TOO_LARGE"}
_FIELD_CODES: Mapping[str, ErrorCode] = {
    "priority": "INVALID_PRIORITY",
    "priority_min": "INVALID_PRIORITY",
    "priority_max": "INVALID_PRIORITY",
    "status": "INVALID_STATUS",
    "sort_by": "INVALID_SORT_FIELD",
    "url": "INVALID_URL",
}
"""Codes of fields with a wrong value; a field that is missing is a validation error."""

_REFUSALS = {"missing": 0, "key": 2}

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder(decimal_format="number").encode


class ProductFormat(PlainFormat):
    """The format of responses, errors and requests."""

    error_type: type[msgspec.Struct] = ProductFailure
    decimal_type: Literal["string", "number"] = "number"

    def failure(self, error: Exception) -> HttpResponse:
        """Return the contract's response to an error; an unexpected error is logged, and answered without details."""
        found = api_error(error)
        return HttpResponse(found.status, _encode(found.body), found.headers)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        refused = () if operation.access == "public" else (*errors.UNAUTHORIZED, errors.FORBIDDEN, errors.RATE_LIMITED)
        reads = operation.path_parameters or "query" in operation.parameters
        fields = (errors.INVALID_FIELD,) if reads else ()
        body = () if operation.body is None else (errors.NOT_JSON, errors.TOO_LARGE)
        return (*refused, *fields, *body, errors.INTERNAL_ERROR, errors.DATABASE_ERROR)

    def wrap(self, value: Any) -> Any:
        """Return a response in its envelope."""
        return enveloped(value)

    def wrapped_type(self, answer: Any) -> Any:
        """Return the type of a response in its envelope."""
        return enveloped_type(answer)

    def encode(self, value: Any) -> bytes:
        """Return a response as JSON; amounts of money are exact decimal numbers."""
        return _encode(value)

    def reader(self, shape: type[msgspec.Struct]) -> RequestReader[Any]:
        """Return the reader of a body; money must never pass through a binary float."""
        return RequestReader(shape, float_hook=Decimal)

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query; unknown and empty parameters are ignored, and of repeated ones the last counts."""
        known = set(reader.names)
        found: msgspec.Struct = reader.text({name: text for name, text in sent if name in known and text}, _FORMS)
        return found


def api_error(error: Exception) -> ApiError:
    """Return the contract's error for any failure."""
    match error:
        case ApiFailure():
            return error.error
        case InvalidRequest() | NotJson() | NotAnObject():
            return _invalid(error)
        case TokenRefused() | NotAllowed() | TooOften():
            return _refusal(error)
        case HTTPException() if error.status_code < 500:
            code = _STATUS_CODES.get(error.status_code, "VALIDATION_ERROR")
            return product_error(error.status_code, code, error.detail, headers=error.headers)
        case Unavailable():
            return _unavailable(error)
        case LonglineError() if (found := _known(error)) is not None:
            return found
    _log.error("unhandled error", exc_info=error)
    return errors.INTERNAL_ERROR


_KNOWN: Mapping[type[LonglineError], Callable[[Any], ApiError]] = {
    NotFound: errors.missing_error,
    NoProxies: lambda _: errors.NO_PROXIES_AVAILABLE,
    IllegalMove: lambda error: product_error(400, "INVALID_STATUS", str(error), {"current_status": error.state}),
    BadInput: lambda error: product_error(400, "VALIDATION_ERROR", str(error)),
    Conflict: lambda error: product_error(409, "CONFLICT", str(error)),
    StaleLease: lambda error: product_error(409, "CONFLICT", str(error)),
}
"""The contract's error for each kind of expected failure."""


def _known(error: LonglineError) -> ApiError | None:
    return next((_KNOWN[kind](error) for kind in type(error).__mro__ if kind in _KNOWN), None)


def _invalid(error: InvalidRequest | NotJson | NotAnObject) -> ApiError:
    if not isinstance(error, InvalidRequest):
        return product_error(400, "VALIDATION_ERROR", ErrorFormat().invalid_text(error))
    first = error.problems[0]
    details: dict[str, Any] = {"field": first.field}
    if len(error.problems) > 1:
        details["fields"] = {problem.field: _text(problem) for problem in error.problems}
    return product_error(400, _code(first), _text(first), details)


def _code(problem: Problem) -> ErrorCode:
    if problem.kind in ("missing", "null"):
        return "VALIDATION_ERROR"
    return _FIELD_CODES.get(problem.field, "VALIDATION_ERROR")


def _text(problem: Problem) -> str:
    code = _code(problem)
    if code == "INVALID_PRIORITY":
        return errors.PRIORITY_TEXT
    if problem.kind == "maximum":
        return f"{problem.field} must be at most {problem.expected}"
    return problem_text(problem)


def _refusal(error: TokenRefused | NotAllowed | TooOften) -> ApiError:
    """Return the error of a caller that is not served."""
    match error:
        case TokenRefused():
            return errors.UNAUTHORIZED[_REFUSALS.get(error.kind, 1)]
        case NotAllowed():
            return product_error(403, "FORBIDDEN", str(error))
        case TooOften():
            headers = {"Retry-After": str(error.seconds)}
            return product_error(429, "RATE_LIMIT_EXCEEDED", str(error), headers=headers)


def _unavailable(error: Unavailable) -> ApiError:
    # The text of the error may contain internal addresses.
    _log.warning("answered 500", extra={"reason": str(error)})
    return errors.DATABASE_ERROR
