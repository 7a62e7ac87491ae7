"""Reading of typed requests: JSON bodies, query strings and headers become msgspec Structs.

A valid request costs one conversion. A request that fails is read again field by field, so that every problem is known
and each API can state it in the literal text of its contract.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar
from uuid import UUID

import msgspec
from msgspec import inspect as types

from longline.model.errors import BadInput

Shape = TypeVar("Shape", bound=msgspec.Struct)
Check = Callable[[Any], str | None]
"""Returns the text of a problem of a field's value, or None. A field has one as `Meta(extra={"check": ...})`.

A field may also have literal texts for kinds of problems, as `Meta(extra={"texts": {kind: text}})`.
"""

Kind = Literal[
    "missing", "null", "type", "minimum", "maximum", "too_short", "too_long", "pattern",
    "too_few", "too_many", "choice", "unknown", "repeated", "check",
]  # fmt: skip

_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?")
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


class TextForms(NamedTuple):
    """The accepted spellings of integers and booleans in queries and headers."""

    integer: re.Pattern[str] = re.compile(r"[+-]?[0-9]{1,400}")
    booleans: Mapping[str, bool] = MappingProxyType({"true": True, "false": False})
    ignores_case: bool = True

    def boolean(self, text: str) -> bool | None:
        """Return the value of a boolean, or None for any other text."""
        return self.booleans.get(text.lower() if self.ignores_case else text)


TEXT_FORMS = TextForms()


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


class NotJson(BadInput):
    """A body that is not JSON."""


class NotAnObject(BadInput):
    """A JSON body that is not an object; `found` is the Python type of its value."""

    def __init__(self, found: str) -> None:
        super().__init__("not a JSON object")
        self.found = found


@dataclass(frozen=True, slots=True)
class Reading(Generic[Shape]):
    """A body that was read, for a handler that finds further problems: all of them are reported together.

    `sent` is the JSON object. `value` is None if it has problems.
    """

    sent: Mapping[str, Any]
    problems: tuple[Problem, ...]
    value: Shape | None

    def check(self, more: Iterable[Problem] = ()) -> Shape:
        """Return the shape; raise `InvalidRequest` if it has problems, or there are more."""
        problems = (*self.problems, *more)
        if problems or self.value is None:
            raise InvalidRequest(problems)
        return self.value


class RequestReader(Generic[Shape]):
    """A reader of one shape.

    A shape may have two class methods, for which its fields must not be renamed. `problems_between(sent)` yields the
    problems of combinations of fields. `ignored_fields(sent)` returns the names of fields that have no effect beside
    the others, whatever their values. A shape whose `__post_init__` refuses those combinations is read faster.
    """

    def __init__(self, shape: type[Shape], float_hook: Callable[[str], Any] | None = None) -> None:
        info = types.type_info(shape)
        assert isinstance(info, types.StructType)
        self._shape, self._info = shape, info
        self._decoder = msgspec.json.Decoder(shape, float_hook=float_hook, dec_hook=parse_value)
        self._untyped = msgspec.json.Decoder(float_hook=float_hook)
        self._options = {field.encode_name: _options(field.type) for field in info.fields}
        self._checks = [(field, check) for field in info.fields if (check := _extra(field.type, "check")) is not None]
        self._checks_itself = hasattr(shape, "__post_init__")
        self._may_be_unset = any(field.default is msgspec.UNSET for field in msgspec.structs.fields(shape))
        self._between: Callable[[Mapping[str, Any]], Iterable[Problem]] | None
        self._between = getattr(shape, "problems_between", None)
        self._ignored: Callable[[Mapping[str, Any]], Collection[str]]
        self._ignored = getattr(shape, "ignored_fields", lambda _: ())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields in requests."""
        return tuple(field.encode_name for field in self._info.fields)

    def body(self, sent: bytes) -> Shape:
        """Return the shape in a JSON body; raise `NotJson`, `NotAnObject` or `InvalidRequest`."""
        try:
            # The decoder skips unknown fields without a look at their encoding.
            if not sent.isascii():
                sent.decode()
            found = self._decoder.decode(sent)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ArithmeticError):
            return self.value(self._object(sent))
        return found if self._is_valid(found) else self.value(self._object(sent))

    def reading(self, sent: bytes) -> Reading[Shape]:
        """Return a JSON body with its problems; raise `NotJson` or `NotAnObject`."""
        found = self._object(sent)
        try:
            return Reading(found, (), self.value(found))
        except InvalidRequest as error:
            return Reading(found, error.problems, None)

    def value(self, sent: Mapping[str, Any]) -> Shape:
        """Return the shape in a JSON object; raise `InvalidRequest`."""
        ignored = self._ignored(sent)
        used = {name: value for name, value in sent.items() if name not in ignored}
        problems = list(self._problems(used))
        if problems:
            raise InvalidRequest(problems)
        return msgspec.convert(used, self._shape, dec_hook=parse_value)

    def text(self, sent: Mapping[str, str], forms: TextForms = TEXT_FORMS) -> Shape:
        """Return the shape in the text values of a query or of headers; raise `InvalidRequest`."""
        values = self._values(sent, forms)
        try:
            found = msgspec.convert(values, self._shape, dec_hook=parse_value)
        except msgspec.ValidationError:
            return self.value(values)
        return found if self._is_valid(found) else self.value(values)

    def lenient_text(self, sent: Mapping[str, str], forms: TextForms = TEXT_FORMS) -> Shape:
        """Return the shape in text values: values above a bound become the bound, other wrong values the default.

        Choices are accepted in any case.
        """
        values = self._values({name: text for name, text in sent.items() if text}, forms)
        for problem in self._problems(values):
            if problem.kind == "maximum":
                values[problem.field] = problem.expected
            elif problem.kind == "choice" and str(problem.value).lower() in problem.expected:
                values[problem.field] = str(problem.value).lower()
            else:
                values.pop(problem.field, None)
        return msgspec.convert(values, self._shape, dec_hook=parse_value)

    def _values(self, sent: Mapping[str, str], forms: TextForms) -> dict[str, Any]:
        """Return text values as the JSON values that their fields expect, unchanged where that fails."""
        options = self._options
        return {name: _value_of(text, options[name], forms) if name in options else text for name, text in sent.items()}

    def _object(self, sent: bytes) -> dict[str, Any]:
        try:
            found = self._untyped.decode(sent)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise NotJson(str(error)) from None
        except ArithmeticError:
            raise NotJson("number out of range") from None
        if not isinstance(found, dict):
            raise NotAnObject(type(found).__name__)
        return found

    def _problems(self, sent: Mapping[str, Any]) -> Iterator[Problem]:
        yield from object_problems(sent, self._info)
        if self._between is not None:
            yield from self._between(sent)

    def _is_valid(self, found: Shape) -> bool:
        """Return whether a shape that could be decoded passes its checks."""
        for field, check in self._checks:
            value = getattr(found, field.name)
            if value is None or value is msgspec.UNSET or value is field.default:
                continue
            if check(value) is not None:
                return False
        if self._between is None or self._checks_itself:
            return True
        sent = msgspec.structs.asdict(found)
        if self._may_be_unset:
            sent = {name: value for name, value in sent.items() if value is not msgspec.UNSET}
        return not any(self._between(sent))


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
        texts: Mapping[str, str] = _extra(field.type, "texts") or {}
        yield from (problem._replace(text=problem.text or texts.get(problem.kind)) for problem in found)


def _field_problems(name: str, value: Any, expected: types.Type) -> Iterator[Problem]:
    found = list(_value_problems(name, value, expected))
    check: Check | None = _extra(expected, "check")
    if not found and check is not None and value is not None and (text := check(value)) is not None:
        found = [Problem(name, "check", text, value)]
    yield from found


def _value_problems(name: str, value: Any, expected: types.Type) -> Iterator[Problem]:
    options = _options(expected)
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


def _options(expected: types.Type) -> list[types.Type]:
    """Return the types that a value may have, without their annotations."""
    while isinstance(expected, types.Metadata):
        expected = expected.type
    if isinstance(expected, types.UnionType):
        return [option for member in expected.types for option in _options(member)]
    return [expected]


def _extra(expected: types.Type, name: str) -> Any:
    """Return an extra annotation of a field's type, or of the member of its union that has one."""
    if isinstance(expected, types.UnionType):
        return next((found for member in expected.types if (found := _extra(member, name)) is not None), None)
    if not isinstance(expected, types.Metadata):
        return None
    found = (expected.extra or {}).get(name)
    return _extra(expected.type, name) if found is None else found


def _value_of(text: str, options: list[types.Type], forms: TextForms) -> Any:
    for option in options:
        match option:
            case types.IntType() if forms.integer.fullmatch(text):
                return int(text)
            case types.FloatType() if _NUMBER.fullmatch(text):
                return float(text)
            case types.BoolType() if (found := forms.boolean(text)) is not None:
                return found
    return text


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
