"""Code around all HTTP APIs: request ids, the access log, and responses to requests that reach no operation."""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from litestar import Request, Response
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, ExceptionHandlersMap, HTTPScope, Message, Receive, Scope, Send

from longline.model.errors import Unavailable
from longline.surfaces.door import ApiFormat, Door, door_at
from longline.surfaces.error_format import NUL_IN_URL, ErrorFormat
from longline.surfaces.routing import client_of, to_framework
from longline.surfaces.server.cross_site import CROSS_SITE, is_cross_site
from longline.surfaces.server.request_head import Refusal, refusal_in
from longline.surfaces.server.request_id import REQUEST_ID, request_id

_BODILESS = ("GET", "HEAD", "OPTIONS")
_CLIENT_GONE = 499  # the status that proxies log for a client that disconnected before the response

_LIMIT = b"x-ratelimit-limit"
_NUL = Refusal(NUL_IN_URL.status, NUL_IN_URL.body["error"])

_access = logging.getLogger("longline.access")


class AccessRecord(NamedTuple):
    """One request and its response; `route` is the path as registered, not as requested."""

    method: str
    route: str
    status: int
    seconds: float


class RequestMiddleware:
    """A wrapper of the whole application that also gives unknown paths an id, a log line and a count.

    A request that was refused by its head, has a NUL character in its URL, or comes from a page of another site to one
    of the `local` APIs, is answered here, in the error format of the API at its path.
    """

    def __init__(
        self,
        app: ASGIApp,
        observe: Callable[[AccessRecord], None],
        doors: Sequence[Door] = (),
        local: Collection[str] = (),
    ) -> None:
        self._app, self._observe, self._doors, self._local = app, observe, doors, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        own_id = request_id(scope["headers"])
        status = _CLIENT_GONE

        async def framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                limits = await self._limits(scope, message) if status >= 400 else []
                message["headers"] = [*message["headers"], *limits, (b"x-request-id", own_id.encode("latin-1"))]
            await send(message)

        mark = REQUEST_ID.set(own_id)
        path, begun = scope["path"], time.perf_counter()
        try:
            if (refusal := self._refusal_of(scope)) is not None:
                await self._refuse(refusal, scope, receive, framed)
            else:
                await self._app(scope, receive, framed)
        finally:
            route = scope.get("path_template") or "unmatched"
            # A body that turned out to be none was answered by the connection.
            refusal = refusal_in(scope["state"])
            status = refusal.status if refusal is not None else status
            self._finish(AccessRecord(scope["method"], route, status, time.perf_counter() - begun), path, scope)
            REQUEST_ID.reset(mark)

    def _refusal_of(self, scope: HTTPScope) -> Refusal | None:
        """Return the refusal of a request that reaches no operation, or None."""
        if (refusal := refusal_in(scope["state"])) is not None:
            return refusal
        if self._has_nul(scope):
            return _NUL
        return CROSS_SITE if self._local and self._is_cross_site(scope) else None

    def _is_cross_site(self, scope: HTTPScope) -> bool:
        """Return whether a page of another site calls an API that is open to this machine; it may ask by OPTIONS."""
        if scope["method"] == "OPTIONS" or not is_cross_site(tuple(scope["headers"])):
            return False
        door = door_at(self._doors, scope["path"])
        return door is not None and door.name in self._local

    async def _limits(self, scope: HTTPScope, message: Any) -> list[tuple[bytes, bytes]]:
        """Return the headers about rate limits of an error outside operations, where the API at its path tells them."""
        door = door_at(self._doors, scope["path"])
        if door is None or door.limiter is None or any(name == _LIMIT for name, _ in message["headers"]):
            return []
        try:
            state = await door.limiter.charge(None, client_of(scope), scope["method"])
        except Unavailable:
            return []  # the error itself is told all the same
        told = {} if state is None else door.limiter.headers(state)
        return [(name.lower().encode(), value.encode()) for name, value in told.items()]

    async def _refuse(self, refusal: Refusal, scope: HTTPScope, receive: Receive, send: Send) -> None:
        """Answer a request with a refusal."""
        request: Request[Any, Any, Any] = Request(scope)
        error = HTTPException(status_code=refusal.status, detail=refusal.text)
        answered = to_framework(format_at(self._doors, scope["path"]).failure(error))
        if "origin" in request.headers:
            # The framework, which adds this header to all other responses, is bypassed.
            answered.headers["access-control-allow-origin"] = "*"
        await answered.to_asgi_response(None, request)(scope, receive, send)

    def _finish(self, exchange: AccessRecord, path: str, scope: HTTPScope) -> None:
        self._observe(exchange)
        if not _access.isEnabledFor(logging.INFO):
            return
        # The query string stays out: it may hold a token.
        client = scope.get("client")
        _access.info(
            "%s %s %d",
            exchange.method,
            path,
            exchange.status,
            extra={
                "method": exchange.method,
                "path": path,
                "route": exchange.route,
                "status": exchange.status,
                "duration_ms": round(exchange.seconds * 1000, 2),
                "client": client[0] if client else "",
            },
        )

    def _has_nul(self, scope: HTTPScope) -> bool:
        # No database stores a NUL, so no id contains one; PostgreSQL rejects it.
        if "\0" not in scope["path"] and b"%00" not in scope["query_string"]:
            return False
        door = door_at(self._doors, scope["path"])
        return door is None or not door.reads_nul


def format_at(doors: Sequence[Door], path: str) -> ApiFormat:
    """Return the format of the API at a path."""
    door = door_at(doors, path)
    return ErrorFormat() if door is None else door.format


def error_handlers(doors: Sequence[Door]) -> ExceptionHandlersMap:
    """Return the handlers of errors outside operations: unknown paths, wrong methods, broken requests."""

    def handle(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
        return to_framework(format_at(doors, request.scope["path"]).failure(error))

    return {HTTPException: handle, Exception: handle}


class ClientGone(HTTPException):
    """The client disconnected before the end of its body; no response is read, and the server is not at fault."""

    status_code = _CLIENT_GONE
    detail = "the client hung up before it had sent the whole body"


class WholeBodies:
    """A wrapper that raises `ClientGone` for a truncated body, which the framework would treat as a server error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request to the framework."""
        if scope["type"] != ScopeType.HTTP or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        whole = False

        async def received() -> Any:
            nonlocal whole
            message = await receive()
            if message["type"] == "http.disconnect" and not whole:
                raise ClientGone
            whole = whole or not message.get("more_body", False)
            return message

        await self._app(scope, received, send)
