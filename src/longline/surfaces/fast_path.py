"""The fast path: the most frequent requests bypass the framework, which costs more than their response.

The same requests have handlers in the framework as well: for requests with an Origin header, and for other spellings
of the path.
"""

from collections.abc import Iterable

from litestar.enums import ScopeType
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, Receive, Scope, Send

from longline.surfaces.door import Endpoint, HttpRequest, HttpResponse
from longline.surfaces.routing import client_of
from longline.surfaces.server.request_head import TOO_LARGE
from longline.surfaces.server.request_limits import MAX_BODY_BYTES

_TOO_LARGE = HTTPException(status_code=TOO_LARGE.status, detail=TOO_LARGE.text)


class FastPath:
    """An ASGI wrapper that answers POST requests to some paths, and passes all others to the application."""

    def __init__(self, app: ASGIApp, endpoints: Iterable[Endpoint]) -> None:
        self._app = app
        paths = {endpoint.operation.path: endpoint for endpoint in endpoints if endpoint.operation.is_fast}
        self._endpoints = {form: endpoint for path, endpoint in paths.items() for form in (path, f"{path}/")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it to the application."""
        if scope["type"] != ScopeType.HTTP or scope["method"] != "POST" or scope["path"] not in self._endpoints:
            await self._app(scope, receive, send)
            return
        headers = list(scope["headers"])
        if b"origin" in dict(headers):
            await self._app(scope, receive, send)
            return
        endpoint = self._endpoints[scope["path"]]
        scope["path_template"] = endpoint.operation.path
        body = await _body(receive)
        if body is None:
            return
        if len(body) > MAX_BODY_BYTES:
            await _send(send, endpoint.fail(_TOO_LARGE))
        else:
            request = HttpRequest({}, scope["query_string"], headers, body, client_of(scope))
            await _send(send, await endpoint.answer(request))


async def _send(send: Send, response: HttpResponse) -> None:
    assert isinstance(response.body, bytes)
    headers = [(name.lower().encode(), value.encode()) for name, value in response.headers.items()]
    headers += [
        (b"content-type", response.media_type.encode()),
        (b"content-length", str(len(response.body)).encode()),
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": False})


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
