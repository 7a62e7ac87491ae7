"""Exports into a folder: WARC, JSON lines, Parquet, CSV and Markdown."""

import asyncio
import errno
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from longline.drivers.exports.formats import CONVERTED_FORMATS, convert, flat_row, put_in_place, struct_schema
from longline.model.errors import DiskFull, Unavailable, is_disk_full
from longline.model.exports.export import WARC_NAME, ExportedFile


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
            if set(self._formats) & set(CONVERTED_FORMATS):
                # Columns hold JSON values as text.
                self._file(f"{noun}.flat").write(self._encode([flat_row(row) for row in rows]))

    async def members(self, members: Sequence[bytes]) -> None:
        with self._trouble():
            self._file(WARC_NAME).writelines(members)

    async def documents(self, documents: Sequence[tuple[str, str]]) -> None:
        with self._trouble():
            await asyncio.to_thread(self._write_documents, documents)

    def _write_documents(self, documents: Sequence[tuple[str, str]]) -> None:
        for name, text in documents:
            path = Path(self._building.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "replace"))

    async def finish(self) -> list[ExportedFile]:
        with self._trouble():
            for file in self._open.values():
                file.close()
            return await asyncio.to_thread(self._put_in_place)

    def _put_in_place(self) -> list[ExportedFile]:
        here = Path(self._building.name)
        for noun, shape in self._shapes.items():
            flat = here / f"{noun}.flat"
            for form in [form for form in self._formats if form in CONVERTED_FORMATS]:
                convert(flat, struct_schema(shape), form, here / f"{noun}.{form}")
            flat.unlink(missing_ok=True)
        made = [(path, self._folder / path.name) for path in sorted(here.iterdir())]
        return [(_put_folder_in_place if path.is_dir() else put_in_place)(path, place) for path, place in made]

    def _file(self, name: str) -> BinaryIO:
        if name not in self._open:
            self._open[name] = (Path(self._building.name) / name).open("wb")
        return self._open[name]


def _explained(error: OSError, folder: Path) -> Unavailable:
    if is_disk_full(error):
        return DiskFull(f"the disk is full: cannot write into {folder}; make room, or name another folder with --out")
    return Unavailable(f"cannot write into {folder}: {error.strerror or error}")


def _put_folder_in_place(folder: Path, place: Path) -> ExportedFile:
    """Put the files of a folder in place, beside files of earlier exports; return the folder with their size."""
    size = 0
    for path in folder.rglob("*"):
        if path.is_file():
            there = place / path.relative_to(folder)
            there.parent.mkdir(parents=True, exist_ok=True)
            size += path.stat().st_size
            path.replace(there)
    return ExportedFile(str(place), size)
