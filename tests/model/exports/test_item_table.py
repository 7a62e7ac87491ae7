"""Columns of tables of items: their order and their types."""

from itertools import permutations
from typing import Any

import pytest

from longline.model.exports.item_table import MAX_ORDERS, ColumnType, TableColumn, TableShape, as_text, merge


def shape_of(*rows: dict[str, Any], types: dict[str, str | None] | None = None) -> TableShape:
    shape = TableShape()
    for row in rows:
        shape.flatten(row, types or {})
    return shape


def column(*values: Any, named: str | None = None) -> TableColumn:
    (found,) = shape_of(*({"x": value} for value in values), types={"x": named}).columns
    return found


@pytest.mark.parametrize(
    ("values", "type_", "mixed"),
    [
        ((1, None, 2), ColumnType.INT, False),
        ((1, 2.5), ColumnType.FLOAT, False),
        ((True, False), ColumnType.BOOL, False),
        (("a", None), ColumnType.TEXT, False),
        ((None,), ColumnType.TEXT, False),
        (([1], {"a": 1}), ColumnType.TEXT, False),
        ((1, "a"), ColumnType.TEXT, True),
        ((True, 1), ColumnType.TEXT, True),
        (([1], 1.5), ColumnType.TEXT, True),
        ((2**63,), ColumnType.TEXT, True),
        ((2**63, 1.5), ColumnType.FLOAT, False),
    ],
)
def test_a_type_fits_all_values(values: tuple[Any, ...], type_: ColumnType, mixed: bool):
    assert column(*values) == TableColumn("x", type_, mixed)


def test_times_keep_their_type_unless_texts_are_among_them():
    assert column("2026-01-02T03:04:05Z", None, named="timestamp").type is ColumnType.TIMESTAMP
    shape = shape_of({"x": "2026-01-02"}, types={"x": "date"})
    assert shape.columns[0].type is ColumnType.DATE
    shape.flatten({"x": "soon"}, {})
    assert shape.columns == (TableColumn("x", ColumnType.TEXT),)


def test_nested_values_are_json():
    assert TableShape().flatten({"a": [1, "b"], "c": {"d": None}, "e": 1}, {}) == {
        "a": '[1,"b"]',
        "c": '{"d":null}',
        "e": 1,
    }


def test_the_order_is_that_of_the_parser_whichever_item_came_first():
    rows = [{"title": 1, "price": 1}, {"title": 1, "rating": 1, "price": 1}, {"url": 1, "title": 1}, {}]
    orders = {tuple(c.name for c in shape_of(*order).columns) for order in permutations(rows)}
    assert orders == {("url", "title", "rating", "price")}


def test_names_come_once_and_after_their_neighbour():
    assert merge([("a", "d"), ("a", "b", "d"), ("a", "b", "c")]) == ["a", "b", "c", "d"]


def test_the_memory_of_column_orders_is_bounded():
    shape = shape_of(*({f"f{n}": n} for n in range(MAX_ORDERS + 5)))
    assert len(shape.columns) == MAX_ORDERS + 5


def test_values_of_mixed_columns_become_texts():
    assert [as_text(value) for value in (None, "a", 1, 1.5, True)] == [None, "a", "1", "1.5", "true"]
