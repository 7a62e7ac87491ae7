"""The reference of the HTTP APIs: the OpenAPI document as a page shows it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

_METHODS = ("get", "post", "put", "patch", "delete")
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} entries",
    "pattern": "pattern {}",
    "default": "default {}",
}


class Field(NamedTuple):
    """A parameter, or a property of a type. `place` is path, query, header or empty."""

    name: str
    kind: str
    model: str | None
    required: bool
    place: str
    notes: str


class Example(NamedTuple):
    """An example of a body, as indented JSON."""

    status: str
    text: str


class Answer(NamedTuple):
    """A response: its status, the type of its body and its examples."""

    status: str
    description: str
    kind: str
    model: str | None
    examples: tuple[Example, ...]


class ReferenceOperation(NamedTuple):
    """One operation of the reference."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    access: str
    parameters: tuple[Field, ...]
    body_kind: str
    body_model: str | None
    body_example: str | None
    answers: tuple[Answer, ...]


class Section(NamedTuple):
    """The operations with one tag."""

    name: str
    description: str
    operations: tuple[ReferenceOperation, ...]


class SectionGroup(NamedTuple):
    """The sections of one API."""

    title: str
    sections: tuple[Section, ...]


class Model(NamedTuple):
    """A type of a request or response."""

    name: str
    description: str
    fields: tuple[Field, ...]


class Reference(NamedTuple):
    """The whole reference."""

    version: str
    groups: tuple[SectionGroup, ...]
    models: tuple[Model, ...]

    @property
    def operation_count(self) -> int:
        """The number of operations."""
        return sum(len(section.operations) for group in self.groups for section in group.sections)


def reference(document: Schema) -> Reference:
    """Return the reference that an OpenAPI document describes."""
    operations = list(_operations(document))
    sections = {
        tag["name"]: Section(
            tag["name"], tag["description"], tuple(one for name, one in operations if name == tag["name"])
        )
        for tag in document["tags"]
    }
    groups = tuple(
        SectionGroup(group["name"], tuple(sections[name] for name in group["tags"]))
        for group in document["x-tagGroups"]
    )
    schemas: Schema = document["components"]["schemas"]
    models = tuple(
        Model(name, schema.get("description", ""), tuple(_properties(schema))) for name, schema in schemas.items()
    )
    return Reference(document["info"]["version"], groups, models)


def _operations(document: Schema) -> Iterator[tuple[str, ReferenceOperation]]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield item[method]["tags"][0], _operation(method, path, item[method])


def _operation(method: str, path: str, described: Schema) -> ReferenceOperation:
    media = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    kind, model = kind_of(media.get("schema", {})) if media else ("", None)
    return ReferenceOperation(
        anchor=described["operationId"],
        method=method.upper(),
        path=path,
        summary=described["summary"],
        description=described.get("description", ""),
        access=" or ".join(scheme for each in described["security"] for scheme in each) or "public",
        parameters=tuple(
            _field(each["name"], _described(each), required=each["required"], place=each["in"])
            for each in described["parameters"]
        ),
        body_kind=kind,
        body_model=model,
        body_example=_json(media["example"]) if "example" in media else None,
        answers=tuple(_answer(status, each) for status, each in sorted(described["responses"].items())),
    )


def _answer(status: str, described: Schema) -> Answer:
    (media_type, media), *_ = described.get("content", {"": {}}).items()
    kind, model = kind_of(media.get("schema", {})) if media_type == "application/json" else (media_type, None)
    found = [media["example"]] if "example" in media else []
    found += [each["value"] for each in media.get("examples", {}).values()]
    return Answer(status, described["description"], kind, model, tuple(Example(status, _json(each)) for each in found))


def _properties(schema: Schema) -> Iterator[Field]:
    for name, each in schema.get("properties", {}).items():
        yield _field(name, each, required=name in schema.get("required", ()))


def _described(parameter: Schema) -> Schema:
    """Return the schema of a parameter with the parameter's own description."""
    return {"description": parameter.get("description", ""), **parameter["schema"]}


def _field(name: str, schema: Schema, *, required: bool, place: str = "") -> Field:
    kind, model = kind_of(schema)
    bounds = [text.format(_short(schema[key])) for key, text in _BOUNDS.items() if schema.get(key) not in (None, "")]
    notes = ". ".join(part for part in (schema.get("description", "").rstrip("."), ", ".join(bounds)) if part)
    return Field(name, kind, model, required, place, notes)


def kind_of(schema: Schema) -> tuple[str, str | None]:
    """Return the text of a schema's type, and the name of the model in it."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        return name, name
    if "anyOf" in schema:
        found = [kind_of(each) for each in schema["anyOf"]]
        return " | ".join(kind for kind, _ in found), next((model for _, model in found if model), None)
    if "enum" in schema:
        return " | ".join(_short(value) for value in schema["enum"]), None
    if "const" in schema:
        return _short(schema["const"]), None
    if schema.get("type") == "array":
        kind, model = kind_of(schema.get("items", {}))
        return f"list of {kind}", model
    if schema.get("type") == "object" and "additionalProperties" in schema:
        kind, model = kind_of(schema["additionalProperties"]) if schema["additionalProperties"] else ("any", None)
        return f"object of {kind}", model
    kind = schema.get("type", "any")
    return (f"{kind} ({schema['format']})" if "format" in schema else str(kind)), None


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
