"""Tables of items: columns in the order of the parser, and types that fit all values."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from longline.model.search import item_columns as names

MAX_ORDERS = 1000
"""Largest number of different orders of fields that are remembered for the columns of one kind."""

_MAX_INT, _JSON, _BIG_INT = 2**63, "json", "big_int"


class ColumnType(StrEnum):
    """The type of a column; a column of several types is text."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TEXT = "text"
    TIMESTAMP = names.TIMESTAMP
    LOCAL_TIMESTAMP = names.LOCAL_TIMESTAMP
    DATE = names.DATE


class TableColumn(NamedTuple):
    """A column of a table. A column is `mixed` if it is text, and numbers or truth values are among its values."""

    name: str
    type: ColumnType
    mixed: bool = False


class TableShape:
    """The shape of a table, learned from its rows; it does not depend on the order of the rows."""

    def __init__(self) -> None:
        self._orders: dict[tuple[str, ...], None] = {}
        self._types: dict[str, set[str]] = {}

    def flatten(self, fields: Mapping[str, Any], types: Mapping[str, str | None]) -> dict[str, Any]:
        """Return a row with lists and objects as JSON; `types` names types of texts that JSON lacks."""
        if len(self._orders) < MAX_ORDERS:
            self._orders[tuple(fields)] = None
        return {name: self._learn(name, value, types.get(name)) for name, value in fields.items()}

    def _learn(self, name: str, value: Any, named: str | None) -> Any:
        seen = self._types.setdefault(name, set())
        if isinstance(value, list | dict):
            seen.add(_JSON)
            return orjson.dumps(value).decode()
        if value is not None:
            seen.add(named if named is not None and isinstance(value, str) else _type_of(value))
        return value

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """Return the columns: the longest item gives the order, and each further field follows its neighbour."""
        order = merge(sorted(self._orders, key=lambda one: (-len(one), one)))
        order += sorted(self._types.keys() - set(order))
        return tuple(_column(name, self._types.get(name, set())) for name in order)


def merge(orders: Iterable[tuple[str, ...]]) -> list[str]:
    """Return all names once; a name that is not there yet comes after the name before it in its own order."""
    merged: list[str] = []
    known: set[str] = set()
    for order in orders:
        if known.issuperset(order):
            continue
        place = 0
        for name in order:
            if name in known:
                place = merged.index(name) + 1
            else:
                merged.insert(place, name)
                known.add(name)
                place += 1
    return merged


def as_text(value: Any) -> Any:
    """Return a value for a column of text: numbers and truth values as JSON writes them."""
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return ColumnType.BOOL
    if isinstance(value, int):
        return ColumnType.INT if -_MAX_INT <= value < _MAX_INT else _BIG_INT
    return ColumnType.FLOAT if isinstance(value, float) else ColumnType.TEXT


def _column(name: str, seen: set[str]) -> TableColumn:
    if len(seen) == 1 and not seen & {_JSON, _BIG_INT}:
        return TableColumn(name, ColumnType(next(iter(seen))))
    if ColumnType.FLOAT in seen and seen <= {ColumnType.INT, ColumnType.FLOAT, _BIG_INT}:
        return TableColumn(name, ColumnType.FLOAT)
    numbers = {ColumnType.INT, ColumnType.FLOAT, ColumnType.BOOL, _BIG_INT}
    return TableColumn(name, ColumnType.TEXT, mixed=bool(seen & numbers))
