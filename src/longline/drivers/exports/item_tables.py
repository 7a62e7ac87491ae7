"""Tables of items as files: one for each kind and named file, each replaced as a whole."""

import asyncio
import errno
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from longline.drivers.exports.failures import explained
from longline.drivers.exports.formats import CONVERTED_FORMATS, convert, put_in_place, table_schema, unmix
from longline.drivers.exports.work_folder import WorkFolder
from longline.model.exports.export import KIND_MARK, ExportedFile, TableFile
from longline.model.exports.item_table import TableShape
from longline.model.search.item import ItemRow, own_fields
from longline.model.search.item_columns import decode_columns


class _KindRows:
    """The rows of one kind so far: as the parser gave them, and flat for formats with columns."""

    def __init__(self, folder: Path, number: int, *, whole: bool, flat: bool) -> None:
        self.shape, self.count = TableShape(), 0
        self.whole, self.flat = folder / f"{number}.whole", folder / f"{number}.flat"
        self._whole: BinaryIO | None = self.whole.open("wb") if whole else None
        self._flat: BinaryIO | None = self.flat.open("wb") if flat else None

    def add(self, item: ItemRow) -> None:
        fields = own_fields(item)
        self.count += 1
        if self._whole is not None:
            self._whole.write(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
        if self._flat is not None:
            row = self.shape.flatten(fields, dict(decode_columns(item.columns)))
            self._flat.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        for file in (self._whole, self._flat):
            if file is not None:
                file.close()


class ItemTableFiles:
    """Tables in the making, in a hidden folder beside the first file; `finish` replaces the named files."""

    def __init__(self, files: Sequence[TableFile]) -> None:
        self._files = files
        self._kinds: dict[str, _KindRows] = {}
        check_places(files)
        self._work = WorkFolder(files[0].path)

    def __enter__(self) -> "ItemTableFiles":
        return self

    def __exit__(self, *_: object) -> None:
        for rows in self._kinds.values():
            with suppress(OSError):  # a full disk was reported already, and these files are thrown away
                rows.close()
        self._work.remove()

    async def add(self, items: Sequence[ItemRow]) -> None:
        with explained(self._files[0].path):
            for item in items:
                self._rows(item.kind).add(item)

    async def finish(self, kinds: Sequence[str]) -> list[ExportedFile]:
        return await asyncio.to_thread(self._put_all, kinds)

    def _put_all(self, kinds: Sequence[str]) -> list[ExportedFile]:
        with explained(self._files[0].path):
            for kind in kinds:
                self._rows(kind).close()
                unmix(self._rows(kind).flat, self._rows(kind).shape.columns)
        written = [one for file in self._files for one in self._put(file, kinds)]
        for file in self._files:
            if len(kinds) > 1 and KIND_MARK not in file.path:
                # An earlier table was of one kind: a part of the items would look like all of them.
                Path(file.path).unlink(missing_ok=True)
        return written

    def _put(self, file: TableFile, kinds: Sequence[str]) -> list[ExportedFile]:
        if not kinds and KIND_MARK not in file.path:
            return [self._put_empty(file)]
        return [self._put_kind(file, kind, Path(file.for_kind(kind, alone=len(kinds) == 1))) for kind in kinds]

    def _put_kind(self, file: TableFile, kind: str, place: Path) -> ExportedFile:
        rows, made = self._rows(kind), place.with_name(f".{place.name}.part")
        with explained(str(place)):
            if file.format == "jsonl":
                shutil.copyfile(rows.whole, made)
            else:
                convert(rows.flat, table_schema(rows.shape.columns), file.format, made)
            return put_in_place(made, place, rows.count)

    def _put_empty(self, file: TableFile) -> ExportedFile:
        place = Path(file.path)
        made, rows = place.with_name(f".{place.name}.part"), self._work.path / "none"
        with explained(file.path):
            rows.touch()
            made.touch()
            if file.format == "parquet":
                convert(rows, table_schema(()), file.format, made)
            return put_in_place(made, place, 0)

    def _rows(self, kind: str) -> _KindRows:
        if kind not in self._kinds:
            forms = {file.format for file in self._files}
            whole, flat = "jsonl" in forms, bool(forms & set(CONVERTED_FORMATS))
            self._kinds[kind] = _KindRows(self._work.path, len(self._kinds), whole=whole, flat=flat)
        return self._kinds[kind]


def check_places(files: Sequence[TableFile]) -> None:
    """Make the folders of the files; raise `Unavailable` for a file that cannot be written."""
    for file in files:
        place = Path(file.path).absolute()
        with explained(file.path):
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder")
            with tempfile.TemporaryFile(dir=place.parent):
                pass
