"""The format of the catalogue contract: envelope, error codes, and the texts of invalid fields."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from litestar.exceptions import HTTPException

from longline.model.callers.caller import NotAllowed
from longline.model.errors import BadInput, Conflict, IllegalMove, LonglineError, NotFound, StaleLease, Unavailable
from longline.services.callers.door_settings import UnderMaintenance
from longline.services.callers.rate_limits import TooOften
from longline.services.callers.tokens import TokenRefused
from longline.services.sources.sources import RefusedConfig
from longline.surfaces.catalogue import errors
from longline.surfaces.catalogue.envelope import CatalogueFailure, enveloped, enveloped_type
from longline.surfaces.catalogue.errors import ErrorCode, catalogue_error, invalid
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import ErrorFormat, PlainFormat, problem_text
from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.operation import ApiError, ApiFailure, Operation
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

_FORMS = TextForms(re.compile(r"-?[0-9]{1,18}"), ignores_case=False)
_STATUS_CODES: Mapping[int, ErrorCode] = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "PAYLOAD_TOO_LARGE"}
_REFUSALS = {"missing": errors.NO_TOKEN, "header": errors.BAD_HEADER, "expired": errors.TOKEN_EXPIRED}
PAGING = frozenset({"page", "limit"})
"""Parameters whose wrong values mean the default, and whose large values mean the bound."""

_log = logging.getLogger(__name__)


class CatalogueFormat(PlainFormat):
    """The format of responses, errors and requests."""

    error_type: type[msgspec.Struct] = CatalogueFailure
    decimal_type: Literal["string", "number"] = "number"

    def failure(self, error: Exception) -> HttpResponse:
        """Return the contract's response to an error; an unexpected error is logged, and answered without details."""
        found = api_error(error)
        return HttpResponse(found.status, msgspec.json.encode(found.body), found.headers)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        refused = (errors.NO_TOKEN, errors.BAD_HEADER, errors.TOKEN_EXPIRED, errors.TOKEN_INVALID, errors.FORBIDDEN)
        reads = operation.path_parameters or "query" in operation.parameters
        query = (errors.INVALID_QUERY,) if reads else ()
        body = () if operation.body is None else (errors.INVALID_FIELD, errors.NOT_JSON, errors.TOO_LARGE)
        return (
            *refused,
            *query,
            *body,
            errors.rate_limited(2),
            errors.INTERNAL_ERROR,
            errors.UNDER_MAINTENANCE,
            errors.UNAVAILABLE,
        )

    def wrap(self, value: Any) -> Any:
        """Return a response in its envelope."""
        return enveloped(value)

    def wrapped_type(self, answer: Any) -> Any:
        """Return the type of a response in its envelope."""
        return enveloped_type(answer)

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query. Repeated parameters are joined by commas; wrong numbers of pages mean the default."""
        joined: dict[str, str] = {}
        for name, text in sent:
            if name in reader.names and text:
                joined[name] = f"{joined[name]},{text}" if name in joined and name not in PAGING else text
        paging: msgspec.Struct = reader.lenient_text({name: text for name, text in joined.items() if name in PAGING})
        numbers = {name: str(getattr(paging, name)) for name in PAGING & set(joined)}
        found: msgspec.Struct = reader.text(joined | numbers, _FORMS)
        return found


def api_error(error: Exception) -> ApiError:
    """Return the contract's error for any failure."""
    match error:
        case ApiFailure():
            return error.error
        case InvalidRequest():
            details = [{"field": each.field, "message": problem_text(each)} for each in error.problems]
            return catalogue_error(400, "VALIDATION_ERROR", details[0]["message"], details)
        case NotJson() | NotAnObject():
            return invalid(ErrorFormat().invalid_text(error))
        case TokenRefused():
            return _REFUSALS.get(error.kind, errors.TOKEN_INVALID)
        case NotAllowed():
            return errors.FORBIDDEN
        case TooOften():
            return errors.rate_limited(error.seconds)
        case HTTPException() if error.status_code < 500:
            code = _STATUS_CODES.get(error.status_code, "VALIDATION_ERROR")
            return catalogue_error(error.status_code, code, error.detail, headers=dict(error.headers or {}))
        case Unavailable():
            # The text of the error may contain internal addresses.
            _log.warning("answered 503", extra={"reason": str(error)})
            return errors.UNAVAILABLE
        case LonglineError() if (found := _known(error)) is not None:
            return found
    _log.error("unhandled error", exc_info=error)
    return errors.INTERNAL_ERROR


_KNOWN: Mapping[type[LonglineError], Callable[[Any], ApiError]] = {
    NotFound: lambda error: errors.MISSING.get(error.noun) or catalogue_error(404, "NOT_FOUND", str(error)),
    UnderMaintenance: lambda _: errors.UNDER_MAINTENANCE,
    IllegalMove: lambda error: invalid(str(error)),
    BadInput: lambda error: invalid(str(error)),
    RefusedConfig: lambda error: invalid(str(error), "config"),
    Conflict: lambda error: catalogue_error(409, "CONFLICT", str(error)),
    StaleLease: lambda error: catalogue_error(409, "CONFLICT", str(error)),
}
"""The contract's error for each kind of expected failure."""


def _known(error: LonglineError) -> ApiError | None:
    return next((_KNOWN[kind](error) for kind in type(error).__mro__ if kind in _KNOWN), None)
