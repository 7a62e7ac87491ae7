"""A table of rows of one struct as a file, which is replaced as a whole."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from longline.drivers.exports.failures import explained
from longline.drivers.exports.formats import convert, flat_row, put_in_place, struct_schema
from longline.drivers.exports.work_folder import WorkFolder
from longline.model.exports.export import ExportedFile, TableFile


class RowTable:
    """A table in the making; `finish` replaces the named file."""

    def __init__(self, file: TableFile, shape: type[msgspec.Struct]) -> None:
        self._file, self._shape, self._count = file, shape, 0
        self._place = Path(file.path).absolute()
        self._encode = msgspec.json.Encoder().encode_lines
        self._work = WorkFolder(file.path)
        with explained(file.path):
            self._path = self._work.path / "rows"
            self._rows = self._path.open("wb")

    def __enter__(self) -> "RowTable":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # a full disk was reported already, and the file is thrown away
            self._rows.close()
        self._work.remove()

    def add(self, rows: Sequence[msgspec.Struct]) -> None:
        """Add rows to the table."""
        with explained(self._file.path):
            self._rows.write(self._encode(rows if self._file.format == "jsonl" else [flat_row(row) for row in rows]))
        self._count += len(rows)

    def finish(self) -> ExportedFile:
        """Put the table in place and return its file."""
        with explained(self._file.path):
            self._rows.close()
            made = self._path
            if self._file.format != "jsonl":
                made = self._path.with_name("table")
                convert(self._path, struct_schema(self._shape), self._file.format, made)
            written = put_in_place(made, self._place, self._count)
        return written._replace(path=self._file.path)
