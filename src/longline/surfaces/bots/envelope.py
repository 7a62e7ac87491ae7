"""The envelope of the bot-pull contract: every answer says whether it is a success."""

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

Ask = Request[Any, Any, Any]

PREFIX = "/api/crawl"
"""Where this door is; whatever is answered below it has this envelope."""

_CODES = {404: "not_found", 405: "method_not_allowed"}
_REFUSALS = {"missing": "Authentication credentials were not provided.", "key": "Invalid API key."}
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_log = logging.getLogger(__name__)


class Reply(NamedTuple):
    """An answer as it goes out."""

    status: int
    body: bytes
    headers: Mapping[str, str] = _NO_HEADERS


Handle = Callable[[Ask], Coroutine[Any, Any, Reply]]


class NotAllowed(LonglineError):
    """Somebody whose token is good, but not for this."""


def plain(handle: Handle) -> Callable[[Ask], Coroutine[Any, Any, Response[bytes]]]:
    """A method as a plain function: the framework copies its handlers, and what they are bound to with them."""

    async def handler(request: Ask) -> Response[bytes]:
        return _response(await handle(request))

    # Operations of the OpenAPI document are called by path and name.
    handler.__name__, handler.__doc__ = handle.__name__, handle.__doc__
    return handler


def succeeded(data: Any, status: int = 200) -> Reply:
    """A success."""
    return Reply(status, body({"success": True, "data": data}))


def failed(status: int, code: str, detail: Any, headers: Mapping[str, str] = _NO_HEADERS) -> Reply:
    """A failure: a code for programs and a detail for people."""
    return Reply(status, body({"success": False, "error": code, "detail": detail}), headers)


def on_error(_: Ask, error: Exception) -> Response[bytes]:
    """Whatever went wrong, in the envelope."""
    return _response(failure(error))


def failure(error: Exception) -> Reply:
    """The contract's words for an error; what nobody foresaw is logged, and nothing is told of it."""
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
            # The code names what is not there.
            return failed(404, f"{str(error).split(' ', 1)[0].lower()}_not_found", str(error))
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
