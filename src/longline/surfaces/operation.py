"""Operations of the HTTP APIs: a handler with its path, its typed request and response, and the errors it may give.

A handler is a function whose parameters say what it needs: `services`, the services of its API; `body`, `query` and
`headers`, msgspec Structs; the parameters in its path by their names; `identity`, the result of the access check. The
same declaration serves requests and describes the operation in the OpenAPI document.
"""

import inspect
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar, Unpack, get_args, get_origin

import msgspec

from longline.model.errors import LonglineError
from longline.surfaces.request_reader import Reading
from longline.surfaces.streamed_body import StreamedBody

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Handler = Callable[..., Coroutine[Any, Any, Any]]
Value = TypeVar("Value")

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
PATH_PARAMETER = re.compile(r"\{(\w+)\}")
_RESERVED = frozenset({"services", "body", "query", "headers", "identity"})


class ApiResponse(NamedTuple, Generic[Value]):
    """A response with a status or headers that differ from those of its operation."""

    value: Value
    status: int
    headers: Mapping[str, str] = NO_HEADERS


@dataclass(frozen=True, slots=True)
class Content:
    """A response that is not JSON. As a declared response it has a media type, and descriptions of its headers."""

    media_type: str
    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiError(NamedTuple):
    """An error that an operation may give: its status, its body as in the contract, and its headers."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = NO_HEADERS


class ApiFailure(LonglineError):
    """A failure with a declared error."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(f"{error.status}: {error.body}")
        self.error = error


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `answers` has the type of the response for each successful status. `access` names a check of the API. An operation
    with `is_fast`, a POST to a fixed path, bypasses the framework, which costs more than a short response. `action`, a
    noun and a verb such as `source.enable`, names the audited change; an operation that changes nothing has none.
    """

    method: Method
    path: str
    handler: Handler
    summary: str
    answers: Mapping[int, Any]
    access: str = "token"
    errors: tuple[ApiError, ...] = ()
    aliases: tuple[str, ...] = ()
    request_example: Any = None
    response_example: Any = None
    is_fast: bool = False
    action: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The handler's parameters and their types."""

    @property
    def name(self) -> str:
        """The operation id: the name of the handler."""
        return self.handler.__name__

    @property
    def status(self) -> int:
        """The status of a usual response."""
        return min(self.answers)

    @property
    def path_parameters(self) -> dict[str, Any]:
        """The types of the parameters in the path, by name."""
        return {name: self.parameters[name] for name in PATH_PARAMETER.findall(self.path)}

    @property
    def body(self) -> type[msgspec.Struct] | None:
        """The type of the body, or None for an operation without one."""
        found = _without_none(self.parameters.get("body"))
        is_wrapped = get_origin(found) in (Reading, StreamedBody)
        shape: type[msgspec.Struct] | None = get_args(found)[0] if is_wrapped else found
        return shape

    @property
    def needs_body(self) -> bool:
        """Whether a request without a body is refused."""
        return self.body is not None and not isinstance(self.parameters["body"], UnionType)

    @property
    def streams_body(self) -> bool:
        """Whether the handler reads the body itself, piece by piece."""
        return get_origin(self.parameters.get("body")) is StreamedBody

    @property
    def gets_reading(self) -> bool:
        """Whether the handler gets the body with its problems."""
        return get_origin(self.parameters.get("body")) is Reading


class OperationOptions(TypedDict, total=False):
    """Options of an operation; see `Operation`. `status` is that of a usual response, 200 unless given."""

    status: int
    answers: Mapping[int, Any]
    access: str
    errors: Sequence[ApiError]
    aliases: Sequence[str]
    request_example: Any
    response_example: Any
    is_fast: bool
    action: str


def operation(
    method: Method, path: str, summary: str, **options: Unpack[OperationOptions]
) -> Callable[[Handler], Operation]:
    """Return a decorator that makes a handler an operation.

    The type of the response is the return type of the handler; `answers` names the types of several statuses.
    """

    def decorate(handler: Handler) -> Operation:
        signature = inspect.signature(handler, eval_str=True)
        parameters = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        unknown = set(parameters) - _RESERVED - set(PATH_PARAMETER.findall(path))
        if unknown:
            raise TypeError(f"{handler.__name__} has parameters that no request fills: {', '.join(sorted(unknown))}")
        return Operation(
            method=method,
            path=path,
            handler=handler,
            summary=summary,
            answers=options.get("answers") or {options.get("status", 200): signature.return_annotation},
            access=options.get("access", "token"),
            errors=tuple(options.get("errors", ())),
            aliases=tuple(options.get("aliases", ())),
            request_example=options.get("request_example"),
            response_example=options.get("response_example"),
            is_fast=options.get("is_fast", False),
            action=options.get("action", ""),
            parameters=MappingProxyType(parameters),
        )

    return decorate


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) is UnionType:
        return next(each for each in get_args(annotation) if each is not NoneType)
    return annotation
