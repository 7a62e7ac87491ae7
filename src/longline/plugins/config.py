"""Config of a parser: a JSON object of a source, checked against the type that the parser declares."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect

from longline.model.errors import BadInput

_PLACE = " - at `$"
"""Text between a problem and the JSON path of its value, in the messages of the library."""

_MISSING = "Object missing required field `"


def read_config(parser: str, kind: type | None, given: Mapping[str, Any]) -> Any:
    """Return the config as the declared type; raise `BadInput` that names the parser and the key."""
    if kind is None:
        if given:
            raise BadInput(f"the parser {parser!r} takes no config, but the config has {_listed(given)}")
        return None
    keys = _keys_of(kind)
    unknown = [key for key in given if keys is not None and key not in keys]
    if unknown:
        known = f"its keys are {_listed(keys or ())}" if keys else "it has no keys"
        raise BadInput(f"the config of the parser {parser!r} has no key {unknown[0]!r}; {known}")
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"the config of the parser {parser!r} is not valid: {_problem(str(error))}") from None


def check_config_type(parser: str, kind: type | None) -> None:
    """Raise `TypeError` for a config type that JSON objects cannot be checked against."""
    if kind is None:
        return
    try:
        keys = _keys_of(kind)
    except TypeError as error:
        raise TypeError(f"parser {parser}: {error}") from None
    if keys is None and not isinstance(inspect.type_info(kind), inspect.DictType):
        raise TypeError(f"parser {parser}: the config type must be a msgspec.Struct, a dataclass, a TypedDict or dict")


def _keys_of(kind: type) -> list[str] | None:
    """Return the keys of an object type; None for a type that takes any keys."""
    fields = getattr(inspect.type_info(kind), "fields", None)
    return None if fields is None else [field.encode_name for field in fields]


def _problem(text: str) -> str:
    """Return the problem of a value with its key in front; the library writes the key behind, as a JSON path."""
    problem, _, path = text.rpartition(_PLACE) if _PLACE in text else (text, "", "")
    path = path.removesuffix("`").removeprefix(".")
    if problem.startswith(_MISSING):
        key = problem.removeprefix(_MISSING).removesuffix("`")
        return f"{path}.{key} is required" if path else f"{key} is required"
    problem = problem.replace("`", "")
    return f"{path}: {problem[:1].lower()}{problem[1:]}" if path else problem


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))
