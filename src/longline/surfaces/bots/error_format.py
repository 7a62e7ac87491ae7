"""The format of the bot-pull contract: the envelope of every response, error codes, and the texts of invalid fields."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import unquote

import msgspec
from litestar.exceptions import HTTPException

from longline.model.callers.caller import NotAllowed
from longline.model.errors import NotFound, Unavailable
from longline.services.bots.access import BotRefused
from longline.services.bots.tasks import TaskHeld
from longline.services.callers.rate_limits import TooOften
from longline.services.callers.tokens import TokenRefused
from longline.surfaces.bots import errors
from longline.surfaces.bots.errors import ErrorCode, bot_error, problem_texts
from longline.surfaces.door import EmptyBody, HttpResponse
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiError, ApiFailure, Operation
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

Data = TypeVar("Data")

_FORMS = TextForms(re.compile(r"-?[0-9]{1,11}"), ignores_case=False)
_CODES: Mapping[int, ErrorCode] = {404: "not_found", 405: "method_not_allowed"}
_REFUSALS = {"missing": errors.NO_CREDENTIALS, "key": errors.INVALID_KEY}

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder(decimal_format="number").encode


class BotSuccess(msgspec.Struct, Generic[Data], frozen=True):
    """The envelope of a success."""

    success: Literal[True]
    data: Data


class BotFailure(msgspec.Struct, frozen=True):
    """The envelope of a failure: a code for programs and a detail for people, for invalid fields a map of texts."""

    success: Literal[False]
    error: ErrorCode
    detail: str | dict[str, list[str]]


class BotFormat:
    """The format of responses, errors and requests. Requests of bots may have any query, requests of admins may not."""

    error_type: type[msgspec.Struct] = BotFailure
    decimal_type: Literal["string", "number"] = "number"

    def failure(self, error: Exception) -> HttpResponse:
        """Return the contract's response to an error; an unexpected error is logged, and answered without details."""
        found = _api_error(error)
        return HttpResponse(found.status, _encode(found.body), found.headers)

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own."""
        body = () if operation.body is None else (errors.NOT_JSON, errors.NOT_AN_OBJECT, errors.TOO_LARGE)
        if operation.access == "bot":
            return (*body, *errors.BOT_REFUSALS, errors.INTERNAL_ERROR, errors.UNAVAILABLE)
        return (errors.UNKNOWN_QUERY, *body, *errors.ADMIN_REFUSALS, errors.INTERNAL_ERROR, errors.UNAVAILABLE)

    def wrap(self, value: Any) -> Any:
        """Return a response in the envelope."""
        return BotSuccess(True, value)

    def wrapped_type(self, answer: Any) -> Any:
        """Return the type of a response in the envelope."""
        return BotSuccess[answer]

    def encode(self, value: Any) -> bytes:
        """Return a response as JSON; amounts of money are exact decimal numbers."""
        return _encode(value)

    def reader(self, shape: type[msgspec.Struct]) -> RequestReader[Any]:
        """Return the reader of a body; money must never pass through a binary float."""
        return RequestReader(shape, float_hook=Decimal)

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query; parameters that are unknown or repeated are refused."""
        _check_names(sent, reader.names)
        found: msgspec.Struct = reader.text({name: text for name, text in sent}, _FORMS)
        return found

    def check_unread_query(self, operation: Operation, sent: Sequence[tuple[str, str]]) -> None:
        """Refuse every query parameter in requests of admins."""
        if operation.access != "bot":
            _check_names(sent, ())

    def read_path_value(self, text: str) -> str:
        """Return an id in a path, which is routed undecoded."""
        # No id has a NUL, and PostgreSQL rejects it: with a replacement character the id is just not found.
        return unquote(text).replace("\0", "\ufffd")

    def reads_empty_body(self, operation: Operation, /) -> bool:
        """Return whether an empty body counts as an empty object: it does in requests of admins."""
        return operation.access != "bot"


def _api_error(error: Exception) -> ApiError:
    match error:
        case ApiFailure():
            return error.error
        case InvalidRequest() | NotJson() | NotAnObject():
            return _invalid(error)
        case TaskHeld():
            return errors.locked_error(error.holder)
        case NotFound():
            return errors.missing_error(error)
        case HTTPException() if error.status_code < 500:
            code = _CODES.get(error.status_code, "validation_error")
            return bot_error(error.status_code, code, error.detail, error.headers)
    return _refusal(error) or _internal_error(error)


def _invalid(error: InvalidRequest | NotJson | NotAnObject) -> ApiError:
    match error:
        case InvalidRequest():
            return bot_error(400, "validation_error", problem_texts(error.problems))
        case NotAnObject():
            return errors.object_error(error.found)
        case EmptyBody():
            return errors.NOT_JSON
    return bot_error(400, "validation_error", f"JSON parse error - {error}")


def _refusal(error: Exception) -> ApiError | None:
    match error:
        case BotRefused():
            status = 403 if error.why == "disabled" else 401
            return bot_error(status, "authentication_error", str(error))
        case TokenRefused():
            text = _REFUSALS.get(error.kind, errors.INVALID_TOKEN)
            return bot_error(401, "authentication_error", text, errors.CHALLENGE)
        case NotAllowed():
            return errors.NOT_ALLOWED
        case TooOften():
            return bot_error(429, "rate_limited", str(error), {"Retry-After": str(error.seconds)})
    return None


def _internal_error(error: Exception) -> ApiError:
    if isinstance(error, Unavailable):
        # The text of the error may contain internal addresses.
        _log.warning("answered 503", extra={"reason": str(error)})
        return errors.UNAVAILABLE
    _log.error("unhandled error", exc_info=error)
    return errors.INTERNAL_ERROR


def _check_names(sent: Iterable[tuple[str, str]], known: Iterable[str]) -> None:
    """Raise `InvalidRequest` for query parameters that are unknown or sent more than once."""
    known = set(known)
    problems = []
    for name, times in Counter(name for name, _ in sent).items():
        if name not in known:
            problems.append(Problem(name, "unknown"))
        elif times > 1:
            problems.append(Problem(name, "repeated"))
    if problems:
        raise InvalidRequest(problems)
