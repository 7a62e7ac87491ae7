"""Routes of the framework for operations."""

from typing import Any

from litestar import HttpMethod, Request, Response, route
from litestar.handlers import HTTPRouteHandler
from litestar.types import Scope

from longline.surfaces.door import Endpoint, HttpRequest, HttpResponse
from longline.surfaces.operation import PATH_PARAMETER
from longline.surfaces.sse import EventStream

AnyRequest = Request[Any, Any, Any]


def route_of(endpoint: Endpoint) -> HTTPRouteHandler:
    """Return the route of an operation."""
    operation = endpoint.operation
    streams_body = operation.streams_body

    async def handle(request: AnyRequest) -> Response[Any]:
        body = await request.body() if endpoint.reads_body else b""
        pieces = request.stream() if streams_body else None
        values: dict[str, str] = request.path_params
        scope = request.scope
        headers, client, path = list(scope["headers"]), client_of(scope), scope["path"]
        return to_framework(
            await endpoint.answer(HttpRequest(values, scope["query_string"], headers, body, client, pieces, path))
        )

    paths = [PATH_PARAMETER.sub(r"{\1:str}", path) for path in (operation.path, *operation.aliases)]
    method = HttpMethod(operation.method)
    # HEAD is GET without the content (RFC 9110): every server answers both.
    methods = [method, HttpMethod.HEAD] if method is HttpMethod.GET else [method]
    # Each response has its own status; the default of a DELETE allows no body.
    # A handler that reads the body itself has a limit of its own.
    limit: dict[str, Any] = {"request_max_body_size": None} if streams_body else {}
    return route(paths, http_method=methods, status_code=200, include_in_schema=False, **limit)(handle)


def client_of(scope: Scope) -> str:
    """Return the address of the client."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def to_framework(response: HttpResponse) -> Response[Any]:
    """Return a response of the framework."""
    if isinstance(response.body, EventStream):
        response.body.headers.update(response.headers)
        return response.body
    # The framework appends a charset to the media types of text, even to one that has it.
    headers = {**response.headers, "Content-Type": response.media_type}
    return Response(response.body or None, status_code=response.status, headers=headers)
