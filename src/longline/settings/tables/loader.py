"""Layers of tables: files, then variables; and the variable that hands all tables to a child process."""

import base64
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from longline.model.errors import BadInput
from longline.settings.tables import ROOT, Tables
from longline.settings.tables.reader import Values, build, values_of_environment, values_of_file
from longline.settings.tables.schema import Node, Path, child, dotted, is_secret, nodes_of, show
from longline.settings.tables.table_checks import check_tables
from longline.settings.values import Key

TABLES_NAME = "LONGLINE_TABLES"
"""Variable that hands the tables to a child process. It replaces every file and every other variable of tables."""

TABLE_NAMES = frozenset(nodes_of(Tables))


class LoadedTables(msgspec.Struct, frozen=True):
    """Tables, the origin and the text of each key that was given, secrets masked, and warnings for the operator."""

    tables: Tables
    origins: dict[str, str] = {}
    texts: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def load_tables(
    files: Iterable[tuple[Mapping[str, Any], str]], environ: Mapping[str, str], prefixes: Iterable[str]
) -> LoadedTables:
    """Read the tables of files and of variables with these prefixes; the later file and prefix win."""
    if TABLES_NAME in environ:
        return LoadedTables(decoded(environ[TABLES_NAME]))
    values: Values = {}
    for content, origin in files:
        values |= values_of_file(content, ROOT, origin)
    for prefix in prefixes:
        values |= values_of_environment(environ, prefix, ROOT, values)
    tables: Tables = build(Tables, values)
    given = [path for path in values if isinstance(_node(path), Key)]
    origins = {dotted(path): values[path].origin for path in given}
    check_tables(tables, origins)
    texts = {dotted(path): _shown(tables, path) for path in given}
    return LoadedTables(tables, origins, texts, tuple(_without_effect(values)))


def encoded(tables: Tables) -> str:
    """Return tables as the text of a variable. It is compressed: a variable holds 128 KiB at most."""
    return base64.b64encode(zlib.compress(msgspec.json.encode(tables))).decode()


def decoded(text: str) -> Tables:
    """Return the tables of such a text."""
    try:
        return msgspec.json.decode(zlib.decompress(base64.b64decode(text, validate=True)), type=Tables)
    except (ValueError, zlib.error) as error:
        raise BadInput(f"{TABLES_NAME} is for child processes and must not be set by hand") from error


def _shown(tables: Tables, path: Path) -> str:
    if is_secret(path[-1]):
        return "***"
    found: Any = tables
    for name in path:
        found = found[name] if isinstance(found, dict) else getattr(found, name)
    return show(_node(path), found)


def _node(path: Path) -> Node:
    node: Node = ROOT
    for name in path:
        below = child(node, name)
        assert below is not None
        node = below
    return node


def _without_effect(values: Values) -> list[str]:
    """Return a note for each table without effect yet."""
    late: dict[tuple[str, str], None] = {}
    for path, one in values.items():
        nodes = [_node(path[:length]) for length in range(1, len(path) + 1)]
        if any(node.later for node in nodes):
            late.setdefault((path[0], one.origin))
    return [f"{origin} sets {table}, which has no effect yet" for table, origin in late]
