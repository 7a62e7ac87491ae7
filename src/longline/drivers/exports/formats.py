"""Formats of tables: rows of JSON lines, converted to Parquet and CSV."""

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec
import orjson
from arro3.core import DataType, Field, RecordBatchReader, Schema
from arro3.io import read_json, write_csv, write_parquet

from longline.model.exports.export import ExportedFile
from longline.model.exports.item_table import ColumnType, TableColumn, as_text

CONVERTED_FORMATS = ("parquet", "csv")
"""Formats that are made of a whole file of rows."""

_HINTS: dict[Any, ColumnType] = {
    int: ColumnType.INT,
    float: ColumnType.FLOAT,
    str: ColumnType.TEXT,
    msgspec.Raw: ColumnType.TEXT,
}
_TYPES: dict[ColumnType, Callable[[], DataType]] = {
    ColumnType.INT: DataType.int64,
    ColumnType.FLOAT: DataType.float64,
    ColumnType.BOOL: DataType.bool,
    ColumnType.TEXT: DataType.string,
    ColumnType.TIMESTAMP: lambda: DataType.timestamp("us", tz="UTC"),
    ColumnType.LOCAL_TIMESTAMP: lambda: DataType.timestamp("us"),
    ColumnType.DATE: DataType.date32,
}
_CONVERT: dict[str, Callable[[RecordBatchReader, Path], None]] = {
    "parquet": lambda rows, path: write_parquet(rows, path, compression="zstd(3)"),
    "csv": lambda rows, path: write_csv(rows, path),
}


def struct_schema(shape: type[msgspec.Struct]) -> Schema:
    """Return the schema of rows of one struct; times are in milliseconds, as the database has them."""
    fields = []
    for name, hint in get_type_hints(shape).items():
        kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
        is_time = kinds[0] is datetime
        held = DataType.timestamp("ms", tz="UTC") if is_time else _TYPES[_HINTS[kinds[0]]]()
        fields.append(Field(name, held, nullable=hint is not kinds[0]))
    return Schema(fields)


def table_schema(columns: Sequence[TableColumn]) -> Schema:
    """Return the schema of a table of items."""
    return Schema([Field(column.name, _TYPES[column.type](), nullable=True) for column in columns])


def convert(rows: Path, schema: Schema, form: str, path: Path) -> None:
    """Write a file of rows in a format; the rows are streamed."""
    _CONVERT[form](read_json(rows, schema), path)


def flat_row(row: msgspec.Struct) -> dict[str, Any]:
    """Return a row of a struct with JSON values as text."""
    values = msgspec.structs.asdict(row)
    return {name: bytes(v).decode() if isinstance(v, msgspec.Raw) else v for name, v in values.items()}


def unmix(rows: Path, columns: Sequence[TableColumn]) -> None:
    """Rewrite a file of rows so that mixed columns hold texts alone."""
    mixed = {column.name for column in columns if column.mixed}
    if not mixed:
        return
    rewritten = rows.with_suffix(".text")
    with rows.open("rb") as lines, rewritten.open("wb") as out:
        for line in lines:
            row = {name: as_text(v) if name in mixed else v for name, v in orjson.loads(line).items()}
            out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    rewritten.replace(rows)


def put_in_place(path: Path, place: Path, rows: int | None = None) -> ExportedFile:
    """Move a whole file to its place, on the disk before it is visible."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    path.replace(place)
    return ExportedFile(str(place), place.stat().st_size, rows)
