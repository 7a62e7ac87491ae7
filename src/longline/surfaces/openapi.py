"""The OpenAPI document, made from the declarations of all operations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from longline.surfaces.door import JSON, Access, ApiFormat, Door
from longline.surfaces.operation import ApiError, Content, Operation
from longline.surfaces.rate_limiter import HEADERS as LIMIT_HEADERS
from longline.surfaces.streamed_body import RawBytes

Schema = dict[str, Any]

BYTES: Schema = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}

SECURITY_SCHEMES: Mapping[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "api_key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "A key of this API, which may be sent as a bearer token as well.",
    },
    "token_in_query": {
        "type": "apiKey",
        "in": "query",
        "name": "token",
        "description": "The same token, for clients such as EventSource that cannot set headers.",
    },
    "operator_token": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Fetchbox-Operator-Token",
        "description": "The token of operators, which may be sent as a bearer token as well.",
    },
    "bot_token": {"type": "http", "scheme": "bearer", "description": "The token of a registered bot."},
    "internal_secret": {"type": "apiKey", "in": "header", "name": "X-Internal-Secret"},
}
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_REF = "#/components/schemas/{name}"
_MODULES = re.compile(r"longline\.(?:[a-z_0-9]+\.)+")


def openapi_document(version: str, doors: Sequence[Door]) -> Schema:
    """Return the OpenAPI 3.1 document of these APIs."""
    return _Document().of(version, doors)


class _Document:
    """The schemas and paths of a document while it is made."""

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {}
        self._paths: dict[str, Schema] = {}

    def of(self, version: str, doors: Sequence[Door]) -> Schema:
        for door in doors:
            self._add(door)
        groups = {group.tag: group.description for door in doors for group in door.groups}
        return {
            "openapi": "3.1.0",
            "info": {"title": "Longline", "version": version},
            "tags": [{"name": tag, "description": description} for tag, description in groups.items()],
            # The extension by which viewers put tags together.
            "x-tagGroups": [{"name": door.title, "tags": _tags(door)} for door in doors],
            "paths": self._paths,
            "components": {
                "schemas": dict(sorted(self._schemas.items())),
                "securitySchemes": dict(SECURITY_SCHEMES),
            },
        }

    def _add(self, door: Door) -> None:
        for group in door.groups:
            for operation in group.operations:
                access = door.access[operation.access]
                for number, path in enumerate((operation.path, *operation.aliases)):
                    schema_part = self._operation(operation, door.format)
                    suffix = f"_{number + 1}" if number else ""
                    schema_part |= {"operationId": f"{door.name}_{operation.name}{suffix}", "tags": [group.tag]}
                    schema_part["security"] = _security(access)
                    if access.limiter is not None:
                        _describe_limits(schema_part["responses"])
                    self._paths.setdefault(path, {})[operation.method.lower()] = schema_part

    def _operation(self, operation: Operation, api_format: ApiFormat) -> Schema:
        schema_part: Schema = {"summary": operation.summary, "parameters": list(self._parameters(operation))}
        if operation.handler.__doc__:
            schema_part["description"] = operation.handler.__doc__
        if operation.body is not None:
            content = BYTES if operation.body is RawBytes else self._json(operation)
            schema_part["requestBody"] = {"required": _requires_body(operation, api_format), "content": content}
        schema_part["responses"] = self._responses(operation, api_format)
        return schema_part

    def _json(self, operation: Operation) -> Schema:
        return {JSON: self._media(operation.body, operation.request_example)}

    def _parameters(self, operation: Operation) -> Iterator[Schema]:
        for name, kind in operation.path_parameters.items():
            yield {"name": name, "in": "path", "required": True, **_parameter(self._schema(kind))}
        for place, name in (("query", "query"), ("header", "headers")):
            shape = operation.parameters.get(name)
            if shape is not None:
                yield from self._fields(shape, place)

    def _fields(self, shape: type[msgspec.Struct], place: str) -> Iterator[Schema]:
        _, components = _schemas(shape)
        described = components.pop(shape.__name__)
        self._keep(components)
        for name, schema in described["properties"].items():
            required = name in described.get("required", ())
            yield {"name": name, "in": place, "required": required, **_parameter(schema)}

    def _responses(self, operation: Operation, api_format: ApiFormat) -> Schema:
        schema_part = {
            str(status): self._answer(status, answer, operation, api_format)
            for status, answer in operation.answers.items()
        }
        by_status: dict[int, list[ApiError]] = {}
        for error in (*operation.errors, *api_format.general_errors(operation)):
            by_status.setdefault(error.status, []).append(error)
        for status, errors in sorted(by_status.items()):
            examples = {f"{status}_{number}": {"value": dict(e.body)} for number, e in enumerate(errors, 1)}
            schema = self._schema(api_format.error_type)
            if (same := schema_part.get(str(status))) is not None:
                schema = {"anyOf": [same["content"][JSON]["schema"], schema]}
            media = {"schema": schema, "examples": examples}
            schema_part[str(status)] = {"description": HTTPStatus(status).phrase, "content": {JSON: media}}
            if headers := {name: value for each in errors for name, value in each.headers.items()}:
                schema_part[str(status)]["headers"] = {name: _header(example=value) for name, value in headers.items()}
        return schema_part

    def _answer(self, status: int, answer: Any, operation: Operation, api_format: ApiFormat) -> Schema:
        schema_part: Schema = {"description": HTTPStatus(status).phrase}
        if isinstance(answer, Content):
            schema_part |= _described_content(answer)
        elif answer is not None:
            schema = self._schema(api_format.wrapped_type(answer), api_format.decimal_type)
            schema_part["content"] = {JSON: {"schema": schema, **_example(operation, status, api_format)}}
        return schema_part

    def _media(self, kind: Any, example: Any) -> Schema:
        media: Schema = {"schema": self._schema(kind)}
        return media if example is None else media | {"example": msgspec.to_builtins(example)}

    def _schema(self, kind: Any, decimal_type: str = "string") -> Schema:
        schema, components = _schemas(kind, decimal_type)
        self._keep(components)
        return schema

    def _keep(self, components: Mapping[str, Schema]) -> None:
        for name, schema in components.items():
            if self._schemas.setdefault(name, schema) != schema:
                raise TypeError(f"two types of the APIs are called {name}")


def _schemas(kind: Any, decimal_type: str = "string") -> tuple[Schema, dict[str, Schema]]:
    """Return the schema of a type, and the schemas that it refers to."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template=_REF, schema_hook=_schema_of)
    plain = {_plain_name(name): each for name, each in components.items()}
    return _completed(schema, decimal_type), _completed(plain, decimal_type)


def _plain_name(name: str) -> str:
    """Return the name of a component without modules and signs: that of a generic type is made of its arguments'."""
    return "".join(word[:1].upper() + word[1:] for word in _MODULES.sub("", name).split("_"))


def _parameter(schema: Schema) -> Schema:
    """Return the schema and the description of a parameter; an absent one is never sent as null."""
    options = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        schema = {name: value for name, value in schema.items() if name != "anyOf"} | options[0]
    if schema.get("default", ...) is None:
        schema = {name: value for name, value in schema.items() if name != "default"}
    described = {"description": schema["description"]} if "description" in schema else {}
    return {**described, "schema": {name: value for name, value in schema.items() if name != "description"}}


def _schema_of(parsed: Any) -> Schema:
    return dict(parsed.json_schema)


def _completed(schema: Any, decimal_type: str) -> Any:
    """Return a schema with the parts that the library leaves out: types of choices, and of entries of lists.

    Decimal numbers, which the library has as strings, get the JSON type of the API.
    """
    if isinstance(schema, list):
        return [_completed(each, decimal_type) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _completed(each, decimal_type) for name, each in schema.items()}
    if isinstance(reference := found.get("$ref"), str):
        place, _, name = reference.rpartition("/")
        found["$ref"] = f"{place}/{_plain_name(name)}"
    if found.get("format") == "decimal":
        found["type"] = decimal_type
    if found.get("type") == "array":
        found.setdefault("items", {})
    if isinstance(choices := found.get("enum"), list):
        found |= {"type": _TYPES[type(choices[0])]} if len({type(each) for each in choices}) == 1 else {}
        if len(choices) == 1:
            found["const"] = found.pop("enum")[0]
    return found


def _example(operation: Operation, status: int, api_format: ApiFormat) -> Schema:
    """Return the example of a response in its envelope; an operation may have one for each status."""
    example = operation.response_example
    if not isinstance(example, Mapping) or not all(isinstance(key, int) for key in example):
        example = {operation.status: example}
    if example.get(status) is None:
        return {}
    return {"example": msgspec.json.decode(api_format.encode(api_format.wrap(example[status])))}


def _requires_body(operation: Operation, api_format: ApiFormat) -> bool:
    if not operation.needs_body or operation.body is None:
        return False
    has_required = any(field.required for field in msgspec.structs.fields(operation.body))
    return has_required or not api_format.reads_empty_body(operation)


def _security(access: Access) -> list[Schema]:
    return [*({scheme: []} for scheme in access.schemes), *([{}] if access.is_optional else [])]


def _described_content(content: Content) -> Schema:
    is_text = content.media_type.startswith("text/")
    schema = {"type": "string"} if is_text else {"type": "string", "format": "binary"}
    described: Schema = {"content": {content.media_type: {"schema": schema}}}
    if content.headers:
        described["headers"] = {name: _header(description=text) for name, text in content.headers.items()}
    return described


def _describe_limits(responses: Schema) -> None:
    """Add the headers of rate limits to all responses of an operation."""
    for response in responses.values():
        limits = {name: _header(description=text) for name, text in LIMIT_HEADERS.items()}
        response["headers"] = {**response.get("headers", {}), **limits}


def _header(**described: str) -> Schema:
    return {**described, "schema": {"type": "string"}}


def _tags(door: Door) -> list[str]:
    return list(dict.fromkeys(group.tag for group in door.groups))
