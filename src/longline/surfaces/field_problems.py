"""Problems of the fields of a request: each value is compared with the type, the bounds and the check of its field."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Protocol, Self
from uuid import UUID

import msgspec
from msgspec import inspect as types

from longline.model.errors import BadInput

Check = Callable[[Any], str | None]
"""Returns the text of a problem of a field's value, or None. A field has one as `Meta(extra={"check": ...})`.

A field may also have literal texts for kinds of problems, as `Meta(extra={"texts": {kind: text}})`.
"""

Kind = Literal[
    "missing", "null", "type", "minimum", "maximum", "too_short", "too_long", "pattern",
    "too_few", "too_many", "choice", "unknown", "repeated", "check",
]  # fmt: skip

_TYPE_NAMES: Mapping[type[types.Type], str] = {
    types.IntType: "integer",
    types.StrType: "string",
    types.BoolType: "boolean",
    types.FloatType: "number",
    types.DecimalType: "number",
    types.ListType: "list",
    types.DictType: "object",
    types.StructType: "object",
    types.DateTimeType: "date-time",
    types.UUIDType: "uuid",
}

_PLAIN_TYPES: Mapping[type[types.Type], type] = {
    types.IntType: int,
    types.FloatType: float,
    types.DecimalType: Decimal,
    types.BoolType: bool,
    types.DictType: dict,
    types.DateTimeType: datetime,
    types.UUIDType: UUID,
}


class ParsedType(Protocol):
    """The type of a field that is made from a JSON value by a function of its own."""

    json_schema: Mapping[str, Any]
    """The schema of the JSON values."""

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the value; raise `ValueError` with the text of the problem."""


def parse_value(kind: type[ParsedType], sent: Any) -> ParsedType:
    """Return the value of a field with a parsed type; null is none."""
    if sent is None:
        raise ValueError("null")
    return kind.parse(sent)


class Problem(NamedTuple):
    """One field that cannot be read. `expected` is a type's JSON name, a bound, the choices, or the text of a check.

    `text` is the literal text that the field has for this kind of problem, if any.
    """

    field: str
    kind: Kind
    expected: Any = None
    value: Any = None
    text: str | None = None


class InvalidRequest(BadInput):
    """A request whose fields have problems; the API that was called puts them in words."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.field}: {problem.kind}" for problem in self.problems))


def object_problems(sent: Mapping[str, Any], info: types.StructType) -> Iterator[Problem]:
    """Yield every problem of an object, in the order of the fields."""
    if info.forbid_unknown_fields:
        known = {field.encode_name for field in info.fields}
        yield from (Problem(name, "unknown", value=value) for name, value in sent.items() if name not in known)
    for field in info.fields:
        found: Iterable[Problem] = ()
        if field.encode_name in sent:
            found = _field_problems(field.encode_name, sent[field.encode_name], field.type)
        elif field.required:
            found = (Problem(field.encode_name, "missing"),)
        texts: Mapping[str, str] = field_annotation(field.type, "texts") or {}
        yield from (problem._replace(text=problem.text or texts.get(problem.kind)) for problem in found)


def _field_problems(name: str, value: Any, expected: types.Type) -> Iterator[Problem]:
    found = list(_value_problems(name, value, expected))
    check: Check | None = field_annotation(expected, "check")
    if not found and check is not None and value is not None and (text := check(value)) is not None:
        found = [Problem(name, "check", text, value)]
    yield from found


def _value_problems(name: str, value: Any, expected: types.Type) -> Iterator[Problem]:
    options = plain_types(expected)
    if value is None:
        if not any(isinstance(option, types.NoneType | types.AnyType) for option in options):
            yield Problem(name, "null")
        return
    plain = [option for option in options if not isinstance(option, types.NoneType)]
    # The first type of a union names the problem: the others are spellings that are accepted as well.
    found = [list(_problems_by_type(name, value, option)) for option in plain]
    if all(found):
        yield from found[0]


def _problems_by_type(name: str, value: Any, expected: types.Type) -> Iterator[Problem]:
    match expected:
        case types.IntType() | types.FloatType() | types.DecimalType():
            yield from _number_problems(name, value, expected)
        case types.StrType():
            yield from _text_problems(name, value, expected)
        case types.LiteralType(values=choices):
            yield from _choice_problems(name, value, tuple(choices))
        case types.EnumType(cls=enum):
            yield from _choice_problems(name, value, tuple(member.value for member in enum))
        case types.ListType():
            yield from _list_problems(name, value, expected)
        case types.CustomType(cls=kind):
            yield from _parse_problems(name, value, kind)
        case types.StructType() if isinstance(value, Mapping):
            inner = object_problems(value, expected)
            yield from (problem._replace(field=f"{name}.{problem.field}") for problem in inner)
        case _:
            if not _converts(value, expected):
                yield Problem(name, "type", _type_name(expected), value)


def _choice_problems(name: str, value: Any, choices: tuple[Any, ...]) -> Iterator[Problem]:
    if value not in choices:
        yield Problem(name, "choice", choices, value)


def _parse_problems(name: str, value: Any, kind: Any) -> Iterator[Problem]:
    try:
        kind.parse(value)
    except ValueError as error:
        yield Problem(name, "check", str(error), value)


def _number_problems(
    name: str, value: Any, expected: types.IntType | types.FloatType | types.DecimalType
) -> Iterator[Problem]:
    if not _converts(value, expected):
        yield Problem(name, "type", _type_name(expected), value)
    elif isinstance(expected, types.DecimalType):
        return
    elif expected.ge is not None and value < expected.ge:
        yield Problem(name, "minimum", expected.ge, value)
    elif expected.le is not None and value > expected.le:
        yield Problem(name, "maximum", expected.le, value)


def _text_problems(name: str, value: Any, expected: types.StrType) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(name, "type", "string", value)
    elif expected.min_length is not None and len(value) < expected.min_length:
        yield Problem(name, "too_short", expected.min_length, value)
    elif expected.pattern is not None and re.search(expected.pattern, value) is None:
        yield Problem(name, "pattern", expected.pattern, value)
    elif expected.max_length is not None and len(value) > expected.max_length:
        yield Problem(name, "too_long", expected.max_length, value)


def _list_problems(name: str, value: Any, expected: types.ListType) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(name, "type", "list", value)
    elif expected.min_length is not None and len(value) < expected.min_length:
        yield Problem(name, "too_few", expected.min_length, value)
    elif expected.max_length is not None and len(value) > expected.max_length:
        yield Problem(name, "too_many", expected.max_length, value)
    else:
        for number, each in enumerate(value):
            yield from _field_problems(f"{name}[{number}]", each, expected.item_type)


def plain_types(expected: types.Type) -> list[types.Type]:
    """Return the types that a value may have, without their annotations."""
    while isinstance(expected, types.Metadata):
        expected = expected.type
    if isinstance(expected, types.UnionType):
        return [option for member in expected.types for option in plain_types(member)]
    return [expected]


def field_annotation(expected: types.Type, name: str) -> Any:
    """Return an extra annotation of a field's type, or of the member of its union that has one."""
    if isinstance(expected, types.UnionType):
        return next((found for member in expected.types if (found := field_annotation(member, name)) is not None), None)
    if not isinstance(expected, types.Metadata):
        return None
    found = (expected.extra or {}).get(name)
    return field_annotation(expected.type, name) if found is None else found


def _converts(value: Any, expected: types.Type) -> bool:
    """Return whether a value has the type; a type that is not in the table has been checked before."""
    plain = _PLAIN_TYPES.get(type(expected))
    try:
        msgspec.convert(value, plain or Any)
    except msgspec.ValidationError:
        return False
    return plain is not None or isinstance(expected, types.AnyType)


def _type_name(expected: types.Type) -> str:
    return _TYPE_NAMES.get(type(expected), "value")
