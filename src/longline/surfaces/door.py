"""One HTTP API ("door") as a value: its operations, its error format, its access checks and its metrics."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import iscoroutinefunction
from operator import itemgetter
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import parse_qsl

import msgspec
from litestar.types import ASGIApp

from longline.model.callers.audit import AuditContext, audited_as
from longline.model.callers.caller import AccessRule, Caller, NotAllowed
from longline.model.errors import LonglineError
from longline.services.callers.rate_limits import TooOften
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import NO_HEADERS, ApiError, ApiResponse, Content, Operation
from longline.surfaces.rate_limiter import RateLimiter
from longline.surfaces.request_reader import NotJson, RequestReader
from longline.surfaces.sse import EventStream
from longline.surfaces.streamed_body import StreamedBody, no_pieces

JSON = "application/json"


class HttpRequest(NamedTuple):
    """A request as received, with its body. Names of headers are in lower case."""

    path_values: Mapping[str, str]
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes = b""
    client: str = ""
    """The address of the client."""

    pieces: AsyncIterator[bytes] | None = None
    """The body of an operation that reads it piece by piece."""

    path: str = ""

    def header(self, name: bytes) -> str | None:
        """Return the first value of a header, or None."""
        for given, value in self.headers:
            if given == name:
                return value.decode("latin-1")
        return None

    def query_values(self) -> list[tuple[str, str]]:
        """Return the names and values of the query string, in their order."""
        return parse_qsl(self.query.decode("latin-1"), keep_blank_values=True)


class HttpResponse(NamedTuple):
    """A response to be sent."""

    status: int
    body: bytes | EventStream
    headers: Mapping[str, str] = NO_HEADERS
    media_type: str = JSON

    def with_headers(self, headers: Mapping[str, str]) -> "HttpResponse":
        """Return the response with these headers too."""
        return self._replace(headers={**self.headers, **headers})


@dataclass(frozen=True, slots=True)
class Access:
    """The access that an operation requires.

    `check`, a function or a coroutine function, raises for a request without the required credentials, and returns the
    identity of the caller. `schemes` names the accepted security schemes of the OpenAPI document; each of them is
    enough. With `is_optional`, some callers need none. `rule` names the roles that are served, if roles decide.
    `limiter` counts requests under the rate limits that the API declares. With `reads_body`, the check reads the body.
    `still_served` tells of a request that was served whether its credentials are in force; a stream ends with them.
    """

    check: Callable[[HttpRequest], Any]
    schemes: tuple[str, ...] = ()
    is_optional: bool = False
    rule: AccessRule | None = None
    limiter: RateLimiter | None = None
    reads_body: bool = False
    still_served: Callable[[HttpRequest], Awaitable[bool]] | None = None


PUBLIC = Access(lambda _: None)


class ApiFormat(Protocol):
    """The format of one contract: its errors, its envelope, and its reading of requests."""

    error_type: type[msgspec.Struct]
    """Type of the body of every error."""

    decimal_type: Literal["string", "number"]
    """JSON type of decimal numbers in responses."""

    def failure(self, error: Exception) -> HttpResponse:
        """Return the contract's response to an error."""

    def general_errors(self, operation: Operation) -> Sequence[ApiError]:
        """Return the errors that an operation may give beside its own: refused tokens, invalid requests."""

    def wrap(self, value: Any) -> Any:
        """Return a response in the contract's envelope."""

    def wrapped_type(self, answer: Any) -> Any:
        """Return the type of a response in the contract's envelope."""

    def encode(self, value: Any) -> bytes:
        """Return a response as JSON."""

    def reader(self, shape: type[msgspec.Struct]) -> RequestReader[Any]:
        """Return the reader of a body, with the contract's treatment of numbers."""

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query, with the contract's treatment of wrong values."""

    def check_unread_query(self, operation: Operation, sent: Sequence[tuple[str, str]]) -> None:
        """Check the query of an operation that has none; raise `InvalidRequest` where the contract refuses it."""

    def read_path_value(self, text: str) -> str:
        """Return the text of a parameter in a path."""

    def reads_empty_body(self, operation: Operation, /) -> bool:
        """Return whether an empty body counts as an empty object."""


@dataclass(frozen=True, slots=True)
class OperationGroup:
    """Operations with one subject and the services that their handlers get; the OpenAPI document has a tag for it."""

    tag: str
    description: str
    operations: Sequence[Operation]
    services: Any = None


@dataclass(frozen=True, slots=True)
class Door:
    """One HTTP API; operation ids begin with its name, and its title is for people.

    A request below a path in `prefixes` that matches no operation is answered in the format of this API.
    `refresh_metrics` updates its gauges before a scrape, `probe` those that tell whether its engines answer: it raises
    no error. `observe_request` gets route and status of each request to one of its operations. `wrap` adds an ASGI
    wrapper around the framework. With `reads_nul`, URLs with a NUL character reach the API; elsewhere they are refused.
    An API for browsers alone is not described in the OpenAPI document. `limiter` tells the rate limits with errors
    outside operations.
    """

    name: str
    title: str
    prefixes: tuple[str, ...]
    format: ApiFormat
    groups: Sequence[OperationGroup]
    access: Mapping[str, Access]
    refresh_metrics: Callable[[], Awaitable[None]] | None = None
    probe: Callable[[], Awaitable[None]] | None = None
    observe_request: Callable[[str, int], None] | None = None
    wrap: Callable[[ASGIApp], ASGIApp] | None = None
    reads_nul: bool = False
    is_described: bool = True
    limiter: RateLimiter | None = None

    def endpoints(self) -> "Iterator[Endpoint]":
        """Yield an endpoint for every operation."""
        for group in self.groups:
            for operation in group.operations:
                access = self.access[operation.access]
                yield Endpoint(operation, group.services, self.format, access, door=self.name)


def door_at(doors: Sequence[Door], path: str) -> Door | None:
    """Return the API at a path: the one with the longest prefix of it."""
    found = ((len(prefix), door) for door in doors for prefix in door.prefixes if _is_below(path, prefix))
    return max(found, key=itemgetter(0), default=(0, None))[1]


def _is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


class Endpoint:
    """The execution of one operation: check the access, read the request, call the handler, encode the response."""

    def __init__(
        self, operation: Operation, services: Any, api_format: ApiFormat, access: Access, *, door: str = ""
    ) -> None:
        self.operation, self._door = operation, door
        self.reads_body = (operation.body is not None or access.reads_body) and not operation.streams_body
        self._format, self._check, self._limiter = api_format, access.check, access.limiter
        self._awaits_check, self._still_served = iscoroutinefunction(access.check), access.still_served
        self._services = {"services": services} if "services" in operation.parameters else {}
        self._gets_identity = "identity" in operation.parameters
        self._handler, self._status = operation.handler, operation.status
        self._reads_empty_body = api_format.reads_empty_body(operation)
        query, headers = (operation.parameters.get(name) for name in ("query", "headers"))
        self._query = RequestReader(query) if query else None
        self._header_names = {name: name.lower().encode() for name in _field_names(headers)}
        self._no_headers = headers() if headers and not _has_required(headers) else None
        self._readers: list[tuple[str, Callable[[HttpRequest], Any]]] = []
        if operation.streams_body:
            self._readers.append(("body", _streamed_body))
        elif operation.body:
            body = api_format.reader(operation.body)
            read = body.reading if operation.gets_reading else body.body
            self._readers.append(("body", partial(self._read_body, read)))
        if headers:
            self._readers.append(("headers", partial(self._read_headers, RequestReader(headers))))
        self._path = (
            RequestReader(_path_shape(*operation.path_parameters.items())) if operation.path_parameters else None
        )

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request; every failure is a response in the format of the API."""
        try:
            if self._limiter is not None:
                return await self._serve_under_limits(request, self._limiter)
            return await self._serve(request, await self._identity(request))
        except Exception as error:
            return self.fail(error)

    async def _serve_under_limits(self, request: HttpRequest, limiter: RateLimiter) -> HttpResponse:
        """Return the response to a request that counts under rate limits, also if its credentials are refused."""
        identity: Any = None
        refusal: Exception | None = None
        try:
            identity = await self._identity(request)
        except LonglineError as error:
            refusal = error
        # A caller that is known but not served counts as itself, not under its address.
        counted_as = refusal.caller if isinstance(refusal, NotAllowed) else identity
        caller = counted_as if isinstance(counted_as, Caller) else None
        state = await limiter.charge(caller, request.client, self.operation.method)
        if state is not None and state.wait_ms:
            refusal = TooOften(state.wait_ms / 1000)
        try:
            response = await self._serve(request, identity) if refusal is None else self.fail(refusal)
        except Exception as error:
            response = self.fail(error)
        return response if state is None else response.with_headers(limiter.headers(state))

    async def _identity(self, request: HttpRequest) -> Any:
        identity = self._check(request)
        return await identity if self._awaits_check else identity

    async def _serve(self, request: HttpRequest, identity: Any) -> HttpResponse:
        arguments = self._arguments(request, identity)
        if self.operation.action:
            with audited_as(self._audit_context(identity, arguments)):
                return self._response(await self._handler(**arguments))
        answer = await self._handler(**arguments)
        if isinstance(answer, EventStream) and self._still_served is not None:
            answer.serve_while(partial(self._still_served, request))
        return self._response(answer)

    def _audit_context(self, identity: Any, arguments: Mapping[str, Any]) -> AuditContext:
        if not isinstance(identity, Caller):
            raise TypeError(f"{self.operation.name} is audited and needs a caller")
        reasons = (getattr(one, "reason", None) for one in (arguments.get("body"), identity))
        reason = next((text for text in reasons if isinstance(text, str)), None)
        return AuditContext(identity, self._door, self.operation.action, reason)

    def fail(self, error: Exception) -> HttpResponse:
        """Return the response to an error."""
        return self._format.failure(error)

    def _arguments(self, request: HttpRequest, identity: Any) -> dict[str, Any]:
        found = dict(self._services)
        if self._gets_identity:
            found["identity"] = identity
        if self._path is not None:
            values = {name: self._format.read_path_value(text) for name, text in request.path_values.items()}
            found |= msgspec.structs.asdict(self._path.text(values))
        if self._query is not None:
            found["query"] = self._format.read_query(self._query, request.query_values())
        elif request.query:
            self._format.check_unread_query(self.operation, request.query_values())
        self._read_headers_and_body(found, request)
        return found

    def _read_headers_and_body(self, found: dict[str, Any], request: HttpRequest) -> None:
        """Add headers and body; the problems of both are reported together."""
        problems: tuple[Problem, ...] = ()
        for name, read in self._readers:
            try:
                found[name] = read(request)
            except InvalidRequest as error:
                problems += error.problems
        if problems:
            raise InvalidRequest(problems)

    def _read_body(self, read: Callable[[bytes], Any], request: HttpRequest) -> Any:
        body = request.body
        # Most bodies begin with a brace, which saves a look at every character.
        if body[:1] != b"{" and not body.strip():
            if not self._reads_empty_body:
                return self._refuse_empty_body()
            body = b"{}"
        return read(body)

    def _refuse_empty_body(self) -> None:
        if self.operation.needs_body:
            raise EmptyBody

    def _read_headers(self, reader: RequestReader[Any], request: HttpRequest) -> Any:
        sent = {}
        for name, lower_name in self._header_names.items():
            if (value := request.header(lower_name)) is not None:
                sent[name] = value
        return reader.text(sent) if sent or self._no_headers is None else self._no_headers

    def _response(self, answer: Any) -> HttpResponse:
        status, headers = self._status, NO_HEADERS
        if isinstance(answer, EventStream):
            return HttpResponse(status, answer)
        if isinstance(answer, ApiResponse):
            answer, status, headers = answer.value, answer.status, answer.headers
        if isinstance(answer, Content):
            return HttpResponse(status, answer.data, headers, answer.media_type)
        if answer is None:
            return HttpResponse(status, b"", headers)
        return HttpResponse(status, self._format.encode(self._format.wrap(answer)), headers)


def _streamed_body(request: HttpRequest) -> StreamedBody[Any]:
    header_values = (request.header(name) or "" for name in (b"content-type", b"content-encoding", b"content-length"))
    return StreamedBody(no_pieces() if request.pieces is None else request.pieces, *header_values)


class EmptyBody(NotJson):
    """A request without the required body."""

    def __init__(self) -> None:
        super().__init__("the body is empty")


@lru_cache(maxsize=256)
def _path_shape(*parameters: tuple[str, Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct("PathParameters", list(parameters))


def _has_required(shape: type[msgspec.Struct]) -> bool:
    return any(field.required for field in msgspec.structs.fields(shape))


def _field_names(shape: type[msgspec.Struct] | None) -> tuple[str, ...]:
    return () if shape is None else tuple(each.encode_name for each in msgspec.structs.fields(shape))
