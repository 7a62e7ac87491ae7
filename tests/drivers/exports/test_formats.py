"""Rows of JSON lines in other formats."""

from pathlib import Path

from longline.drivers.exports.formats import convert, table_schema, unmix
from longline.model.exports.item_table import ColumnType, TableColumn


def test_only_mixed_columns_become_texts(tmp_path: Path):
    rows = tmp_path / "rows"
    rows.write_text('{"a":1,"b":2}\n{"a":"x","b":3}\n{"a":null}\n')
    columns = [TableColumn("a", ColumnType.TEXT, mixed=True), TableColumn("b", ColumnType.INT)]
    unmix(rows, columns)
    assert rows.read_text() == '{"a":"1","b":2}\n{"a":"x","b":3}\n{"a":null}\n'
    convert(rows, table_schema(columns), "csv", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "a,b\n1,2\nx,3\n,\n"


def test_rows_without_mixed_columns_are_not_read(tmp_path: Path):
    unmix(tmp_path / "there is no such file", [TableColumn("a", ColumnType.INT)])
