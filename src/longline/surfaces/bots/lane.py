"""The fast path for bots: their most frequent requests bypass the framework, which costs more than the response.

The same requests have handlers in the framework as well: for requests with an Origin header, for other spellings of
the path, and for the OpenAPI document.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from longline.surfaces.bots.envelope import Reply, failed, failure
from longline.surfaces.request_head import MAX_BODY_BYTES

_TOO_LARGE = failed(413, "validation_error", "Request Entity Too Large")


class RawRequest(NamedTuple):
    """A request as received: its body, and its headers by lower-case name."""

    body: bytes
    headers: Mapping[bytes, bytes]

    def header(self, name: bytes) -> str | None:
        """Return the text of a header, or None."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")


Act = Callable[[RawRequest], Coroutine[Any, Any, Reply]]


class FastPath:
    """An ASGI wrapper that answers POST requests to some paths, and passes all others to the application."""

    def __init__(self, app: ASGIApp, acts: Mapping[str, Act]) -> None:
        self._app = app
        self._acts = {spelling: (path, act) for path, act in acts.items() for spelling in (path, f"{path}/")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it to the application."""
        if scope["type"] != ScopeType.HTTP or scope["method"] != "POST" or scope["path"] not in self._acts:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if b"origin" in headers:
            await self._app(scope, receive, send)
            return
        scope["path_template"], act = self._acts[scope["path"]]
        body = await _body(receive)
        if body is not None:
            await _tell(send, await _answer(act, RawRequest(body, headers)))


async def _answer(act: Act, asked: RawRequest) -> Reply:
    try:
        return await act(asked) if len(asked.body) <= MAX_BODY_BYTES else _TOO_LARGE
    except Exception as error:
        return failure(error)


async def _tell(send: Send, told: Reply) -> None:
    sent = [(name.lower().encode(), value.encode()) for name, value in told.headers.items()]
    sent += [(b"content-type", b"application/json"), (b"content-length", str(len(told.body)).encode())]
    await send({"type": "http.response.start", "status": told.status, "headers": sent})
    await send({"type": "http.response.body", "body": told.body, "more_body": False})


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body, or its beginning if it exceeds the limit; None if the client disconnected."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        pieces.append(message["body"])
        size += len(message["body"])
        if not message["more_body"] or size > MAX_BODY_BYTES:
            return b"".join(pieces)
