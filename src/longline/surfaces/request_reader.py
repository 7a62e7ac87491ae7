"""Reading of typed requests: JSON bodies, query strings and headers become msgspec Structs.

A valid request costs one conversion. A request that fails is read again field by field, so that every problem is known
and each API can state it in the literal text of its contract.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import inspect as types

from longline.model.errors import BadInput
from longline.surfaces.field_problems import (
    InvalidRequest,
    Problem,
    field_annotation,
    object_problems,
    parse_value,
    plain_types,
)

Shape = TypeVar("Shape", bound=msgspec.Struct)
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?")


class TextForms(NamedTuple):
    """The accepted spellings of integers and booleans in queries and headers."""

    integer: re.Pattern[str] = re.compile(r"[+-]?[0-9]{1,400}")
    booleans: Mapping[str, bool] = MappingProxyType({"true": True, "false": False})
    ignores_case: bool = True

    def boolean(self, text: str) -> bool | None:
        """Return the value of a boolean, or None for any other text."""
        return self.booleans.get(text.lower() if self.ignores_case else text)


TEXT_FORMS = TextForms()


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
        self._options = {field.encode_name: plain_types(field.type) for field in info.fields}
        self._checks = [
            (field, check) for field in info.fields if (check := field_annotation(field.type, "check")) is not None
        ]
        self._checks_itself = hasattr(shape, "__post_init__")
        # In `info` a field that may be unset has no default.
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
