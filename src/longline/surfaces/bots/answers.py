"""The envelope of the bot-pull contract: every answer says whether it is a success."""

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap

from longline.model.errors import LonglineError, NotFound, Unavailable
from longline.services.bots import BotRefused, TooOften
from longline.services.tokens import TokenRefused
from longline.surfaces.bots.fields import Invalid
from longline.surfaces.bots.shapes import body

Ask = Request[Any, Any, Any]
Handle = Callable[[Ask], Coroutine[Any, Any, Response[bytes]]]

_log = logging.getLogger(__name__)


class NotAllowed(LonglineError):
    """Somebody whose token is good, but not for this."""


def plain(handle: Handle) -> Handle:
    """A method as a plain function: the framework copies its handlers, and what they are bound to with them."""

    async def handler(request: Ask) -> Response[bytes]:
        return await handle(request)

    # Operations of the OpenAPI document are called by path and name.
    handler.__name__, handler.__doc__ = handle.__name__, handle.__doc__
    return handler


def succeeded(data: Any, status: int = 200) -> Response[bytes]:
    """A success."""
    return _answer({"success": True, "data": data}, status)


def failed(status: int, code: str, detail: Any, headers: dict[str, str] | None = None) -> Response[bytes]:
    """A failure: a code for programs and a detail for people."""
    return _answer({"success": False, "error": code, "detail": detail}, status, headers)


def _answer(content: Any, status: int, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(body(content), status_code=status, media_type="application/json", headers=headers)


def on_invalid(_: Ask, error: Invalid) -> Response[bytes]:
    """Name every field that is wrong."""
    return failed(400, "validation_error", error.detail)


def on_refused(_: Ask, error: BotRefused) -> Response[bytes]:
    """Tell a bot that it may not come in."""
    return failed(403 if error.why == "disabled" else 401, "authentication_error", str(error))


def on_too_often(_: Ask, error: TooOften) -> Response[bytes]:
    """Tell a bot when it may come again."""
    return failed(429, "rate_limited", str(error), {"Retry-After": str(error.seconds)})


def on_token(_: Ask, error: TokenRefused) -> Response[bytes]:
    """Tell a person that the token does not open this door."""
    text = "Authentication credentials were not provided." if error.kind == "missing" else "Invalid token."
    return failed(401, "authentication_error", text, {"WWW-Authenticate": "Bearer"})


def on_not_allowed(_: Ask, error: NotAllowed) -> Response[bytes]:
    """Tell a person that this is for others."""
    return failed(403, "authentication_error", str(error))


def on_missing(_: Ask, error: NotFound) -> Response[bytes]:
    """Say what is not there; the code names it."""
    noun = str(error).split(" ", 1)[0].lower()
    return failed(404, f"{noun}_not_found", str(error))


def on_http(_: Ask, error: HTTPException) -> Response[bytes]:
    """Put the framework's refusals into the envelope."""
    if error.status_code >= 500:
        return on_unknown(_, error)
    codes = {404: "not_found", 405: "method_not_allowed", 413: "validation_error"}
    return failed(error.status_code, codes.get(error.status_code, "validation_error"), error.detail)


def on_unknown(_: Ask, error: Exception) -> Response[bytes]:
    """Log what nobody foresaw, and tell nothing of it."""
    if isinstance(error, Unavailable):
        _log.warning("answered 503", extra={"reason": str(error)})
        return failed(503, "internal_error", "Service temporarily unavailable")
    _log.error("unhandled error", exc_info=error)
    return failed(500, "internal_error", "An unexpected error occurred")


ERRORS: ExceptionHandlersMap = {
    Invalid: on_invalid,
    BotRefused: on_refused,
    TooOften: on_too_often,
    TokenRefused: on_token,
    NotAllowed: on_not_allowed,
    NotFound: on_missing,
    HTTPException: on_http,
    Exception: on_unknown,
}
