"""The format of the manifest contract: errors with a code and a message, and strict queries."""

import logging
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from litestar.exceptions import HTTPException

from longline.model.callers.caller import NotAllowed
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.services.callers.rate_limits import TooOften
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import PlainFormat, problem_text
from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.errors import ErrorCode, invalid, manifest_error
from longline.surfaces.operation import ApiError, ApiFailure, Operation
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

_FORMS = TextForms()
_CODES: dict[int, ErrorCode] = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "PAYLOAD_TOO_LARGE"}

_log = logging.getLogger(__name__)


class ManifestErrorDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The code, the message for a person, and the id of the job if it is known."""

    code: ErrorCode
    message: str
    job_id: str | None = None


class ManifestErrorBody(msgspec.Struct, frozen=True):
    """The body of an error."""

    error: ManifestErrorDetail


class ManifestFormat(PlainFormat):
    """The format of responses, errors and requests."""

    error_type: type[msgspec.Struct] = ManifestErrorBody
    decimal_type: Literal["string", "number"] = "number"

    def failure(self, error: Exception) -> HttpResponse:
        """Return the contract's response to an error; an unexpected error is logged, and answered without details."""
        found = _api_error(error)
        return HttpResponse(found.status, msgspec.json.encode(found.body), found.headers)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        refused = (errors.NO_CREDENTIALS, errors.WRONG_CREDENTIALS, errors.FORBIDDEN, errors.limited(2))
        checked = () if operation.access == "public" else refused
        queried = operation.path_parameters or "query" in operation.parameters
        read = (invalid("since_offset must be an integer"),) if queried else ()
        body = () if operation.body is None else (invalid("metadata is required"), errors.TOO_LARGE)
        return (*checked, *read, *body, errors.INTERNAL_ERROR, errors.UNAVAILABLE)

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query; unknown parameters are ignored, wrong values refused."""
        found: msgspec.Struct = reader.text({name: text for name, text in sent if name in reader.names}, _FORMS)
        return found


def _api_error(error: Exception) -> ApiError:
    match error:
        case ApiFailure():
            return error.error
        case InvalidRequest():
            return invalid(problem_text(error.problems[0]))
        case NotJson() | NotAnObject():
            return invalid("the body is not a JSON object")
        case NotFound():
            return errors.NOUNS_NOT_FOUND.get(error.noun, errors.NOT_FOUND)
        case BadInput():
            return invalid(str(error))
        case HTTPException() if error.status_code < 500:
            code = _CODES.get(error.status_code, "INVALID_PAYLOAD")
            return manifest_error(error.status_code, code, error.detail, dict(error.headers or {}))
    return _refusal(error) or _internal_error(error)


def _refusal(error: Exception) -> ApiError | None:
    match error:
        case TokenRefused():
            return errors.NO_CREDENTIALS if error.kind == "missing" else errors.WRONG_CREDENTIALS
        case NotAllowed():
            return manifest_error(403, "UNAUTHORIZED", str(error))
        case TooOften():
            return errors.limited(error.seconds)
    return None


def _internal_error(error: Exception) -> ApiError:
    if isinstance(error, Unavailable):
        # The text of the error may contain internal addresses.
        _log.warning("answered 503", extra={"reason": str(error)})
        return errors.UNAVAILABLE
    _log.error("unhandled error", exc_info=error)
    return errors.INTERNAL_ERROR
