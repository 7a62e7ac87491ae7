"""Rows of one struct as a file."""

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from arro3.io import read_parquet

from longline.drivers.exports.row_table import RowTable
from longline.model.exports.export import table_file

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)


class Line(msgspec.Struct):
    name: str
    status: int | None
    at: datetime


def write(file: Path, *rows: Line) -> int | None:
    with RowTable(table_file(str(file)), Line) as table:
        for row in rows:
            table.add([row])
        return table.finish().rows


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "name,status,at\na,200,2026-01-02T03:04:05.678Z\n"),
        ("x.jsonl", '{"name":"a","status":200,"at":"2026-01-02T03:04:05.678000Z"}\n'),
    ],
)
def test_a_table_is_put_in_place_complete(tmp_path: Path, name: str, text: str):
    assert write(tmp_path / name, Line("a", 200, AT)) == 1
    assert (tmp_path / name).read_text() == text
    assert os.listdir(tmp_path) == [name]


def test_columns_have_their_types_without_values(tmp_path: Path):
    write(tmp_path / "x.parquet", Line("a", None, AT))
    write(tmp_path / "none.parquet")
    for name in ("x", "none"):
        table = read_parquet(tmp_path / f"{name}.parquet").read_all()
        assert "Int64" in str(table.schema.field("status").type)


def test_an_unfinished_table_leaves_no_file(tmp_path: Path):
    with RowTable(table_file(str(tmp_path / "x.csv")), Line) as table:
        table.add([Line("a", 1, AT)])
    assert os.listdir(tmp_path) == []
