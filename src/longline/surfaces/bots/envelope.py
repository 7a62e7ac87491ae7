"""The envelope of the bot-pull contract: every response has a `success` flag."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from litestar import Request, Response
from litestar.exceptions import HTTPException

from longline.model.errors import LonglineError, NotFound, Unavailable
from longline.services.bots.pull import BotRefused, TooOften
from longline.services.bots.tasks import TaskHeld
from longline.services.tokens import TokenRefused
from longline.surfaces.bots.fields import Invalid
from longline.surfaces.bots.shapes import body
from longline.surfaces.door import HttpResponse
from longline.surfaces.error_format import ErrorFormat

Ask = Request[Any, Any, Any]

PREFIX = "/api/crawl"
"""Path prefix of the bot API; every response below it has the envelope."""

_CODES = {404: "not_found", 405: "method_not_allowed"}
_REFUSALS = {"missing": "Authentication credentials were not provided.", "key": "Invalid API key."}
_NOUNS = {"policy": "Policy", "task": "Job", "result": "Result", "bot": "Bot"}
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_log = logging.getLogger(__name__)


class Reply(NamedTuple):
    """A response before it is sent."""

    status: int
    body: bytes
    headers: Mapping[str, str] = _NO_HEADERS


Handle = Callable[[Ask], Coroutine[Any, Any, Reply]]


class NotAllowed(LonglineError):
    """The token is valid, but its role may not use this route."""


def plain(handle: Handle) -> Callable[[Ask], Coroutine[Any, Any, Response[bytes]]]:
    """Return a method as a plain function: the framework copies its handlers together with their bound objects."""

    async def handler(request: Ask) -> Response[bytes]:
        return _response(await handle(request))

    # Operation ids of the OpenAPI document are made of path and function name.
    handler.__name__, handler.__doc__ = handle.__name__, handle.__doc__
    return handler


def succeeded(data: Any, status: int = 200) -> Reply:
    """Return a success."""
    return Reply(status, body({"success": True, "data": data}))


def failed(status: int, code: str, detail: Any, headers: Mapping[str, str] = _NO_HEADERS) -> Reply:
    """Return a failure: a code for programs and a detail for people."""
    return Reply(status, body({"success": False, "error": code, "detail": detail}), headers)


def on_error(_: Ask, error: Exception) -> Response[bytes]:
    """Return an error in the envelope."""
    return _response(failure(error))


class EnvelopeFormat(ErrorFormat):
    """The envelope, for errors before routing."""

    def failure(self, found: Exception) -> HttpResponse:
        """Return an error in the envelope."""
        return HttpResponse(*failure(found))


def failure(error: Exception) -> Reply:
    """Return the contract's response to an error; an unexpected error is logged, and answered without details."""
    match error:
        case Invalid():
            return failed(400, "validation_error", error.detail)
        case BotRefused() | TokenRefused() | NotAllowed():
            return _kept_out(error)
        case TaskHeld():
            return failed(409, "job_locked", str(error))
        case TooOften():
            return failed(429, "rate_limited", str(error), {"Retry-After": str(error.seconds)})
        case NotFound():
            noun = _NOUNS[error.noun]
            return failed(404, f"{noun.lower()}_not_found", f"{noun} {error.subject} not found")
        case HTTPException() if error.status_code < 500:
            code = _CODES.get(error.status_code, "validation_error")
            return failed(error.status_code, code, error.detail, error.headers or _NO_HEADERS)
        case Unavailable():
            _log.warning("answered 503", extra={"reason": str(error)})
            return failed(503, "internal_error", "Service temporarily unavailable")
    _log.error("unhandled error", exc_info=error)
    return failed(500, "internal_error", "An unexpected error occurred")


def _kept_out(error: BotRefused | TokenRefused | NotAllowed) -> Reply:
    if isinstance(error, TokenRefused):
        text = _REFUSALS.get(error.kind, "Invalid token.")
        return failed(401, "authentication_error", text, {"WWW-Authenticate": "Bearer"})
    status = 401 if isinstance(error, BotRefused) and error.why != "disabled" else 403
    return failed(status, "authentication_error", str(error))


def _response(told: Reply) -> Response[bytes]:
    headers = dict(told.headers)
    return Response(told.body, status_code=told.status, media_type="application/json", headers=headers)
