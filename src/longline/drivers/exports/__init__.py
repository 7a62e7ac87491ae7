"""Exports into a folder: WARC, JSON lines, Parquet and CSV."""

import asyncio
import errno
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO, get_args, get_type_hints

import msgspec
from arro3.core import DataType, Field, RecordBatchReader, Schema
from arro3.io import read_json, write_csv, write_parquet

from longline.model.archive.export import WARC_NAME, ExportedFile
from longline.model.errors import DiskFull, Unavailable, is_disk_full

_TYPES: dict[Any, Callable[[], DataType]] = {
    int: DataType.int64,
    float: DataType.float64,
    str: DataType.string,
    msgspec.Raw: DataType.string,
    datetime: lambda: DataType.timestamp("ms", tz="UTC"),
}
_CONVERT: dict[str, Callable[[RecordBatchReader, Path], None]] = {
    "parquet": lambda rows, path: write_parquet(rows, path, compression="zstd(3)"),
    "csv": lambda rows, path: write_csv(rows, path),
}


class FolderExport:
    """An export that writes into a hidden subfolder; the files are moved into place when all are complete."""

    def __init__(self, folder: Path, formats: Sequence[str]) -> None:
        self._folder, self._formats = folder, formats
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._building = tempfile.TemporaryDirectory(dir=folder, prefix=".export-")
        except OSError as error:
            raise _explained(error, folder) from error
        self._open: dict[str, BinaryIO] = {}
        self._shapes: dict[str, type[msgspec.Struct]] = {}
        self._encode = msgspec.json.Encoder().encode_lines

    def __enter__(self) -> "FolderExport":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            with suppress(OSError):  # a full disk was reported already, and these files are thrown away
                file.close()
        self._building.cleanup()

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _explained(error, self._folder) from error
        except Exception as error:
            # The table writers raise errors of their own for a full disk.
            if not shutil.disk_usage(self._folder).free:
                raise _explained(OSError(errno.ENOSPC, str(error)), self._folder) from error
            raise

    async def rows(self, noun: str, rows: Sequence[msgspec.Struct]) -> None:
        self._shapes[noun] = type(rows[0])
        with self._trouble():
            if "jsonl" in self._formats:
                self._file(f"{noun}.jsonl").write(self._encode(rows))
            if set(self._formats) & set(_CONVERT):
                # Columns hold JSON values as text.
                self._file(f"{noun}.flat").write(self._encode([_flat(row) for row in rows]))

    async def members(self, members: Sequence[bytes]) -> None:
        with self._trouble():
            self._file(WARC_NAME).writelines(members)

    async def finish(self) -> list[ExportedFile]:
        with self._trouble():
            for file in self._open.values():
                file.close()
            return await asyncio.to_thread(self._put_in_place)

    def _put_in_place(self) -> list[ExportedFile]:
        here = Path(self._building.name)
        for noun, shape in self._shapes.items():
            flat = here / f"{noun}.flat"
            for form in [form for form in self._formats if form in _CONVERT]:
                _CONVERT[form](read_json(flat, _schema(shape)), here / f"{noun}.{form}")
            flat.unlink(missing_ok=True)
        return [_moved(path, self._folder / path.name) for path in sorted(here.iterdir())]

    def _file(self, name: str) -> BinaryIO:
        if name not in self._open:
            self._open[name] = (Path(self._building.name) / name).open("wb")
        return self._open[name]


def _explained(error: OSError, folder: Path) -> Unavailable:
    if is_disk_full(error):
        return DiskFull(f"the disk is full: cannot write into {folder}; make room, or name another folder with --out")
    return Unavailable(f"cannot write into {folder}: {error.strerror or error}")


def _flat(row: msgspec.Struct) -> dict[str, Any]:
    values = msgspec.structs.asdict(row)
    return {name: bytes(v).decode() if isinstance(v, msgspec.Raw) else v for name, v in values.items()}


def _schema(shape: type[msgspec.Struct]) -> Schema:
    fields = []
    for name, hint in get_type_hints(shape).items():
        kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
        fields.append(Field(name, _TYPES[kinds[0]](), nullable=hint is not kinds[0]))
    return Schema(fields)


def _moved(path: Path, place: Path) -> ExportedFile:
    path.replace(place)
    return ExportedFile(str(place), place.stat().st_size)
