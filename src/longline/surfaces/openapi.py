"""The OpenAPI document, made from the declarations of all operations."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from longline.surfaces.door import JSON, ApiFormat, Door
from longline.surfaces.operation import ApiError, Content, Operation

Schema = dict[str, Any]

SECURITY_SCHEMES: Mapping[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "token_in_query": {
        "type": "apiKey",
        "in": "query",
        "name": "token",
        "description": "The same token, for clients such as EventSource that cannot set headers.",
    },
    "bot_token": {"type": "http", "scheme": "bearer", "description": "The token of a registered bot."},
    "internal_secret": {"type": "apiKey", "in": "header", "name": "X-Internal-Secret"},
}
_REF = "#/components/schemas/{name}"


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
            "paths": self._paths,
            "components": {
                "schemas": dict(sorted(self._schemas.items())),
                "securitySchemes": dict(SECURITY_SCHEMES),
            },
        }

    def _add(self, door: Door) -> None:
        for group in door.groups:
            for operation in group.operations:
                schemes = door.access[operation.access].schemes
                for number, path in enumerate((operation.path, *operation.aliases)):
                    told = self._operation(operation, door.format)
                    suffix = f"_{number + 1}" if number else ""
                    told |= {"operationId": f"{door.name}_{operation.name}{suffix}", "tags": [group.tag]}
                    told["security"] = [{scheme: []} for scheme in schemes]
                    self._paths.setdefault(path, {})[operation.method.lower()] = told

    def _operation(self, operation: Operation, api_format: ApiFormat) -> Schema:
        told: Schema = {"summary": operation.summary, "parameters": list(self._parameters(operation))}
        if operation.handler.__doc__:
            told["description"] = operation.handler.__doc__
        if operation.body is not None:
            content = {JSON: self._media(operation.body, operation.request_example)}
            told["requestBody"] = {"required": operation.needs_body, "content": content}
        told["responses"] = self._responses(operation, api_format)
        return told

    def _parameters(self, operation: Operation) -> Iterator[Schema]:
        for name, kind in operation.path_parameters.items():
            yield {"name": name, "in": "path", "required": True, "schema": self._schema(kind)}
        for place, name in (("query", "query"), ("header", "headers")):
            shape = operation.parameters.get(name)
            if shape is not None:
                yield from self._fields(shape, place)

    def _fields(self, shape: type[msgspec.Struct], place: str) -> Iterator[Schema]:
        _, components = msgspec.json.schema_components([shape], ref_template=_REF)
        described = components.pop(shape.__name__)
        self._keep(components)
        for name, schema in described["properties"].items():
            required = name in described.get("required", ())
            yield {"name": name, "in": place, "required": required, "schema": schema}

    def _responses(self, operation: Operation, api_format: ApiFormat) -> Schema:
        told = {
            str(status): self._answer(status, answer, operation, api_format)
            for status, answer in operation.answers.items()
        }
        by_status: dict[int, list[ApiError]] = {}
        for error in (*operation.errors, *api_format.general_errors(operation)):
            by_status.setdefault(error.status, []).append(error)
        for status, errors in sorted(by_status.items()):
            examples = {f"{status}_{number}": {"value": dict(e.body)} for number, e in enumerate(errors, 1)}
            media = {"schema": self._schema(api_format.error_type), "examples": examples}
            told[str(status)] = {"description": HTTPStatus(status).phrase, "content": {JSON: media}}
        return told

    def _answer(self, status: int, answer: Any, operation: Operation, api_format: ApiFormat) -> Schema:
        told: Schema = {"description": HTTPStatus(status).phrase}
        if isinstance(answer, Content):
            told["content"] = {answer.media_type: {"schema": {"type": "string"}}}
        elif answer is not None:
            example = operation.response_example if status == operation.status else None
            told["content"] = {JSON: self._media(api_format.wrapped_type(answer), example)}
        return told

    def _media(self, kind: Any, example: Any) -> Schema:
        media: Schema = {"schema": self._schema(kind)}
        return media if example is None else media | {"example": msgspec.to_builtins(example)}

    def _schema(self, kind: Any) -> Schema:
        (schema,), components = msgspec.json.schema_components([kind], ref_template=_REF)
        self._keep(components)
        return schema

    def _keep(self, components: Mapping[str, Schema]) -> None:
        for name, schema in components.items():
            if self._schemas.setdefault(name, schema) != schema:
                raise TypeError(f"two types of the APIs are called {name}")
