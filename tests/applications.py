"""Applications that are built quickly: a thousand tests build one, and the framework would parse its routes again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import jinja2
import msgspec
import pytest
from litestar import Litestar
from litestar._kwargs import KwargsModel
from litestar._signature import SignatureModel
from litestar.routes import BaseRoute, HTTPRoute
from litestar.utils.signature import ParsedSignature


@contextmanager
def remembered_types() -> Iterator[None]:
    """Read each signature of a route, each shape of a request and each template once for all applications."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ParsedSignature, "from_fn", _once(ParsedSignature.from_fn, _key_of_function))
        patch.setattr(SignatureModel, "create", _once(SignatureModel.create, _key_of_signature))
        create = KwargsModel.create_for_signature_model
        patch.setattr(KwargsModel, "create_for_signature_model", _once(create, _key_of_arguments))
        patch.setattr(msgspec.inspect, "type_info", cache(msgspec.inspect.type_info))
        patch.setattr(msgspec.structs, "fields", _once(msgspec.structs.fields, _key_of_shape))
        patch.setattr(jinja2.Environment, "compile", _once(jinja2.Environment.compile, _key_of_template))
        patch.setattr(Litestar, "route_handler_method_map", property(lambda app: HandlersByPath(app.routes)))
        yield


def _once(make: Callable[..., Any], key_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes one value for each key; for the key None it makes a value at each call."""
    made: dict[Any, Any] = {}

    def get_or_make(*args: Any, **named: Any) -> Any:
        key = key_of(*args, **named)
        if key is None:
            return make(*args, **named)
        if key not in made:
            made[key] = make(*args, **named)
        return made[key]

    return get_or_make


def _key_of_function(function: Callable[..., Any], namespace: dict[str, Any]) -> Any:
    code, annotations = getattr(function, "__code__", function), getattr(function, "__annotations__", {})
    return code, tuple(annotations.items()), getattr(function, "__defaults__", None), tuple(namespace)


def _key_of_signature(*, fn: Any, parsed_signature: Any, data_dto: Any, dependency_name_set: Any, **_: Any) -> Any:
    """Identify a signature by its object, which `from_fn` keeps."""
    return id(parsed_signature), fn.__name__, data_dto, frozenset(dependency_name_set)


def _key_of_shape(shape: Any) -> Any:
    """Identify a shape by itself; a value of a shape may not be hashable."""
    return shape if isinstance(shape, type) else None


def _key_of_arguments(
    *, signature_model: Any, path_parameters: set[str], dependencies: Any, layered_parameters: Any, **_: Any
) -> Any:
    given_elsewhere = dependencies or layered_parameters
    return None if given_elsewhere else (signature_model, frozenset(path_parameters))


def _key_of_template(
    environment: jinja2.Environment, source: str, name: str | None = None, filename: str | None = None, **_: Any
) -> Any:
    """Identify a template by its file; each file belongs to one kind of environment."""
    return filename and (filename, source)


class HandlersByPath:
    """The handlers of each path, of which the framework looks up one whenever a route is added."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = routes

    def get(self, path: str, default: dict[str, Any]) -> dict[str, Any]:
        """Return the handler of each method at a path."""
        found = (route for route in self._routes if isinstance(route, HTTPRoute) and route.path == path)
        return next(
            ({name: each for each in route.route_handlers for name in each.http_methods} for route in found), default
        )
