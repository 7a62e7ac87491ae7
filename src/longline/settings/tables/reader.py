"""Reader of tables: values of files and variables by their paths, then one typed struct."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from longline.model.errors import BadInput
from longline.settings.tables.schema import (
    Node,
    Path,
    SettingsTable,
    TableEntries,
    TableSection,
    child,
    dotted,
    nodes_of,
)
from longline.settings.values import Key, RawValue, unknown_setting

Values = dict[Path, RawValue]
"""Raw values by path. The path of an entry is there as well, so that an entry without keys is not lost."""


def values_of_file(raw: Any, node: Node, origin: str, path: Path = ()) -> Values:
    """Return the values of a table of a file; raise an error with the full name of an unknown key."""
    if isinstance(node, Key):
        return {path: RawValue(raw, origin)}
    if not isinstance(raw, Mapping):
        raise BadInput(f"{origin}: {dotted(path)} is not a table")
    values: Values = {}
    for name, value in raw.items():
        if isinstance(node, TableEntries):
            values[*path, name] = RawValue({}, origin)
        values |= values_of_file(value, _known_child(node, name, path, origin), origin, (*path, name))
    return values


def values_of_environment(environ: Mapping[str, str], prefix: str, node: Node, known: Iterable[Path]) -> Values:
    """Return the values of variables such as `PREFIX__SECTION__KEY`; `known` has the paths of the file.

    A name that the operator chose is found by its letters and digits, whatever its case.
    """
    paths = list(known)
    values: Values = {}
    for variable, text in environ.items():
        if variable.startswith(prefix):
            path, key = _path_of(variable, variable[len(prefix) :].split("__"), node, paths)
            values[path] = RawValue(_from_text(text) if key.kind.word == "VALUE" else text, variable)
    return values


def build(table: type[SettingsTable], values: Values, path: Path = ()) -> Any:
    """Return a table made of the values below a path; keys without a value have their defaults."""
    given: dict[str, Any] = {}
    for name, node in nodes_of(table).items():
        here = (*path, name)
        if any(one[: len(here)] == here for one in values):
            given[name] = _value(node, values, here)
    return table(**given)


def _value(node: Node, values: Values, path: Path) -> Any:
    if isinstance(node, Key):
        raw, origin = values[path]
        return node.kind.take(raw, origin, dotted(path), secret=node.secret)
    if isinstance(node, TableSection):
        return build(node.table, values, path)
    names = dict.fromkeys(one[len(path)] for one in values if len(one) > len(path) and one[: len(path)] == path)
    below = child(node, "")
    assert below is not None
    return {name: _value(below, values, (*path, name)) for name in names}


def _known_child(node: Node, name: str, path: Path, origin: str) -> Node:
    found = child(node, name)
    if found is None:
        assert isinstance(node, TableSection)
        raise unknown_setting(dotted((*path, name)), origin, [dotted((*path, one)) for one in nodes_of(node.table)])
    return found


def _path_of(variable: str, parts: Iterable[str], node: Node, known: Iterable[Path]) -> tuple[Path, Key]:
    path: Path = ()
    for part in parts:
        if isinstance(node, Key):
            raise BadInput(f"{variable}: {dotted(path)} is not a table")
        name = _chosen(part, path, known) if isinstance(node, TableEntries) else part.lower()
        node, path = _known_child(node, name, path, variable), (*path, name)
    if not isinstance(node, Key):
        raise BadInput(f"{variable}: {dotted(path)} is a table; add two underscores and the name of a key")
    return path, node


def _chosen(part: str, path: Path, known: Iterable[Path]) -> str:
    """Return the entry of a table whose letters and digits a variable spells, or a new name in small letters.

    Of several entries that are spelled alike, the one with the same characters is meant.
    """
    names = [one[len(path)] for one in known if one[: len(path)] == path and len(one) > len(path)]
    alike = [name for name in names if _spelled(name) == part.upper()]
    return next((name for name in alike if name.upper() == part.upper()), alike[0] if alike else part.lower())


def _spelled(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def _from_text(text: str) -> Any:
    """Return a text as the TOML value that it spells; any other text stays a text."""
    try:
        found = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return found["value"] if found.keys() == {"value"} else text
