"""Schema of tables: structs whose fields are annotated with a key, a section or named entries."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, get_type_hints

import msgspec

from longline.settings.values import Key

_SECRET_NAME = re.compile(r"secret|password|token|api_?key|authorization|cookie", re.IGNORECASE)

Path: TypeAlias = tuple[str, ...]


class SettingsTable(msgspec.Struct, frozen=True, kw_only=True):
    """The base of every table; its text masks secrets, since it may end up in a log line."""

    def __repr__(self) -> str:
        shown = (f"{name}={show(node, getattr(self, name))}" for name, node in nodes_of(type(self)).items())
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class TableSection:
    """A table with fixed keys. `later` marks a table without effect yet."""

    table: type[SettingsTable]
    later: bool = False


@dataclass(frozen=True, slots=True)
class TableEntries:
    """A table whose keys are names that the operator chooses; each entry is a table, or one value."""

    entry: type[SettingsTable] | Key
    later: bool = False


Node: TypeAlias = TableSection | TableEntries | Key


@lru_cache(maxsize=64)
def nodes_of(table: type[SettingsTable]) -> Mapping[str, Node]:
    """Return the node of each key of a table."""
    hints = get_type_hints(table, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in table.__struct_fields__}


def child(node: Node, name: str) -> Node | None:
    """Return the node of a key, or None if the table has no such key."""
    if isinstance(node, TableSection):
        return nodes_of(node.table).get(name)
    if isinstance(node, TableEntries):
        return node.entry if isinstance(node.entry, Key) else TableSection(node.entry)
    return None


def dotted(path: Path) -> str:
    """Return the full name of a key in a table."""
    return ".".join(path)


def show(node: Node, value: Any) -> str:
    """Return a value as a person would write it, secrets masked."""
    if isinstance(node, Key):
        return ("***" if value else "") if node.secret else node.kind.show(value)
    if isinstance(node, TableEntries):
        entry = node.entry if isinstance(node.entry, Key) else TableSection(node.entry)
        shown = (f"{name}: {'***' if is_secret(name) else show(entry, one)}" for name, one in value.items())
        return "{" + ", ".join(shown) + "}"
    return repr(value)


def is_secret(name: str) -> bool:
    """Return whether a name that the operator chose, of a header or an option, is the name of a secret."""
    return _SECRET_NAME.search(name) is not None


def leaves(node: Node, path: Path = (), *, later: bool = False) -> Iterator[tuple[Path, Key, bool]]:
    """Yield each key below a node with its path and whether it has no effect yet; `<name>` stands for chosen names."""
    if isinstance(node, Key):
        yield path, node, later or node.later
    elif isinstance(node, TableEntries):
        below = child(node, "")
        assert below is not None
        yield from leaves(below, (*path, "<name>"), later=later or node.later)
    else:
        for name, below in nodes_of(node.table).items():
            yield from leaves(below, (*path, name), later=later or node.later)


def default_of(node: Node, path: Path) -> Any:
    """Return the default of the key at a path with `<name>` for chosen names, or None for a value of chosen name."""
    table: type[SettingsTable] | None = None
    for name in path[:-1]:
        below = child(node, name)
        assert below is not None
        node = below
    if isinstance(node, TableSection):
        table = node.table
    return None if table is None else getattr(table(), path[-1])
