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
from longline.surfaces.bots import statuses_and_errors as words
from longline.surfaces.bots.statuses_and_errors import ErrorCode, bot_error
from longline.surfaces.door import EmptyBody, HttpResponse
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiError, ApiFailure, Operation
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms

Data = TypeVar("Data")

_FORMS = TextForms(re.compile(r"-?[0-9]{1,11}"), ignores_case=False)
_CODES: Mapping[int, ErrorCode] = {404: "not_found", 405: "method_not_allowed"}
_REFUSALS = {"missing": words.NO_CREDENTIALS, "key": words.INVALID_KEY}

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
        body = () if operation.body is None else (words.NOT_JSON, words.NOT_AN_OBJECT, words.TOO_LARGE)
        if operation.access == "bot":
            return (*body, *words.BOT_REFUSALS, words.INTERNAL_ERROR, words.UNAVAILABLE)
        return (words.UNKNOWN_QUERY, *body, *words.ADMIN_REFUSALS, words.INTERNAL_ERROR, words.UNAVAILABLE)

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


def problem_texts(problems: Iterable[Problem]) -> dict[str, list[str]]:
    """Return the contract's texts of problems, by field; a problem of a list's entry is one of the list."""
    texts: dict[str, list[str]] = {}
    for problem in problems:
        field, bracket, _ = problem.field.partition("[")
        text = words.NOT_STRINGS if bracket else problem.text or _text(problem)
        known_texts = texts.setdefault(field, [])
        if text not in known_texts:
            known_texts.append(text)
    return texts


_TYPE_TEXTS: Mapping[str, str] = {
    "string": "Not a valid string.",
    "integer": "A valid integer is required.",
    "boolean": "Must be a valid boolean.",
    "list": words.NOT_STRINGS,
}

_TEXTS: Mapping[str, str] = {
    "missing": words.REQUIRED,
    "null": "This field may not be null.",
    "minimum": "Ensure this value is greater than or equal to {expected}.",
    "maximum": "Ensure this value is less than or equal to {expected}.",
    "too_short": words.BLANK,
    "too_long": "Ensure this field has no more than {expected} characters.",
    "too_few": "Ensure this field has at least {expected} elements.",
    "too_many": "Ensure this field has no more than {expected} elements.",
    "unknown": words.UNKNOWN_PARAMETER,
    "repeated": words.REPEATED_PARAMETER,
}
"""The text of each kind of problem that does not depend on the value."""


def _text(problem: Problem) -> str:
    match problem.kind:
        case "check":
            return str(problem.expected)
        case "type":
            other = f'Expected a dictionary of items but got type "{type(problem.value).__name__}".'
            return _TYPE_TEXTS.get(problem.expected, other)
        case "pattern" | "choice" if "\0" in str(problem.value) and str(problem.value).strip():
            return words.NULL_CHARACTERS
        case "pattern":
            return words.BLANK
        case "choice":
            return f'"{problem.value}" is not a valid choice.'
    return _TEXTS[problem.kind].format(expected=problem.expected)


def _api_error(error: Exception) -> ApiError:
    match error:
        case ApiFailure():
            return error.error
        case InvalidRequest() | NotJson() | NotAnObject():
            return _invalid(error)
        case TaskHeld():
            return words.locked_error(error.holder)
        case NotFound():
            return words.missing_error(error)
        case HTTPException() if error.status_code < 500:
            code = _CODES.get(error.status_code, "validation_error")
            return bot_error(error.status_code, code, error.detail, error.headers)
    return _refusal(error) or _internal_error(error)


def _invalid(error: InvalidRequest | NotJson | NotAnObject) -> ApiError:
    match error:
        case InvalidRequest():
            return bot_error(400, "validation_error", problem_texts(error.problems))
        case NotAnObject():
            return words.object_error(error.found)
        case EmptyBody():
            return words.NOT_JSON
    return bot_error(400, "validation_error", f"JSON parse error - {error}")


def _refusal(error: Exception) -> ApiError | None:
    match error:
        case BotRefused():
            status = 403 if error.why == "disabled" else 401
            return bot_error(status, "authentication_error", str(error))
        case TokenRefused():
            text = _REFUSALS.get(error.kind, words.INVALID_TOKEN)
            return bot_error(401, "authentication_error", text, words.CHALLENGE)
        case NotAllowed():
            return words.NOT_ALLOWED
        case TooOften():
            return bot_error(429, "rate_limited", str(error), {"Retry-After": str(error.seconds)})
    return None


def _internal_error(error: Exception) -> ApiError:
    if isinstance(error, Unavailable):
        # The text of the error may contain internal addresses.
        _log.warning("answered 503", extra={"reason": str(error)})
        return words.UNAVAILABLE
    _log.error("unhandled error", exc_info=error)
    return words.INTERNAL_ERROR


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
