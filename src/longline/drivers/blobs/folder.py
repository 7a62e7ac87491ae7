"""Objects as files of a folder.

Written with plain file calls and not with obstore's `LocalStore`, which syncs neither files nor folders, so that a
stored object can be gone after a power cut, lists in no order, and cannot hold names like `a#1`.
"""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from longline.drivers.blobs.folder_uploads import FolderUploads
from longline.drivers.blobs.key_rules import (
    STAGING,
    as_chunks,
    check_range,
    checked_bucket,
    checked_key,
    checked_prefix,
)
from longline.drivers.blobs.self_test import write_and_read
from longline.drivers.blobs.staged_files import StagedFiles
from longline.drivers.blobs.synced_folders import SyncedFolders
from longline.drivers.disk_space import MIN_FREE_BYTES, check_room
from longline.model.errors import DiskFull, NotFound, Unavailable, is_disk_full
from longline.ports.blobs import BlobInfo, Labels

BUCKETS = "buckets"
"""Folder of the other buckets."""

_NOT_A_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
_LIST_BATCH_SIZE = 1000


class FolderBlobs:
    """Objects in a folder; a stored object is synced to the disk, name included, unless the folder is not `durable`.

    Other buckets are folders below the folder `buckets`.
    """

    def __init__(self, root: Path, *, durable: bool = True) -> None:
        self._root = root
        self._folders = SyncedFolders(root, durable=durable)
        self._staged = StagedFiles(root, self._folders)
        self._uploads = FolderUploads(root, self._folders, self._trouble)
        self._buckets: dict[str, FolderBlobs] = {}
        self._refused_bytes = 0  # the size of an object for which there was no room

    async def put(
        self,
        key: str,
        data: bytes | Sequence[bytes],
        labels: Mapping[str, str] | None = None,  # noqa: ARG002 - a file has a name and its bytes
    ) -> None:
        await asyncio.to_thread(self._write, checked_key(key), as_chunks(data))

    async def upload(
        self,
        key: str,
        pieces: AsyncIterable[bytes | memoryview],
        labels: Labels | None = None,  # noqa: ARG002 - a file has a name and its bytes
    ) -> int:
        return await self._uploads.upload(key, pieces)

    def bucket(self, name: str) -> "FolderBlobs":
        if name not in self._buckets:
            root = self._root / BUCKETS / checked_bucket(name)
            self._buckets[name] = FolderBlobs(root, durable=self._folders.durable)
        return self._buckets[name]

    async def get(self, key: str) -> bytes:
        return await asyncio.to_thread(self._read, checked_key(key))

    async def get_range(self, key: str, offset: int, length: int) -> bytes:
        check_range(checked_key(key), offset, length)
        return await asyncio.to_thread(self._read_range, key, offset, length)

    async def delete(self, keys: Iterable[str]) -> None:
        await asyncio.to_thread(self._remove, [checked_key(key) for key in keys])

    async def list(self, prefix: str = "") -> AsyncIterator[BlobInfo]:
        folder = checked_prefix(prefix)
        found = self._walk(self._root / folder, f"{folder}/" if folder else "")
        while batch := await asyncio.to_thread(self._next, found):
            for info in batch:
                yield info

    async def check(self) -> str:
        name = f"folder {self._root}"
        await write_and_read(self, name)
        await asyncio.to_thread(check_room, self._root, max(MIN_FREE_BYTES, self._refused_bytes))
        self._refused_bytes = 0
        await asyncio.to_thread(self._remove_old_staged)
        return name

    def _write(self, key: str, chunks: Sequence[bytes]) -> None:
        try:
            with self._trouble("written"):
                try:
                    self._publish(key, chunks)
                except FileNotFoundError:  # another process removed a folder that was made here
                    self._folders.forget()
                    self._publish(key, chunks)
        except DiskFull:
            self._refused_bytes = max(self._refused_bytes, sum(map(len, chunks)))
            raise
        if self._refused_bytes and sum(map(len, chunks)) >= self._refused_bytes:
            self._refused_bytes = 0

    def _publish(self, key: str, chunks: Sequence[bytes]) -> None:
        parent = self._staged.make_folders(key)
        path, handle = self._staged.create()
        try:
            _write(handle, chunks, durable=self._folders.durable)
            self._staged.rename(path, key)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)
            self._folders.sync(parent)

    def _read(self, key: str) -> bytes:
        with self._trouble("read", key):
            return (self._root / key).read_bytes()

    def _read_range(self, key: str, offset: int, length: int) -> bytes:
        with self._trouble("read", key), (self._root / key).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            data = os.pread(file.fileno(), length, offset) if offset + length <= size else b""
        if len(data) != length:
            raise NotFound("object", key, f"object {key!r} ends before byte {offset + length}")
        return data

    def _remove(self, keys: Sequence[str]) -> None:
        with self._trouble("written"):
            for key in keys:
                try:
                    (self._root / key).unlink()
                except _NOT_A_FILE:
                    continue
                except PermissionError:  # some systems raise it for a folder
                    if not (self._root / key).is_dir():
                        raise

    def _next(self, found: Iterator[BlobInfo]) -> Sequence[BlobInfo]:
        with self._trouble("read"):
            return list(islice(found, _LIST_BATCH_SIZE))

    def _walk(self, folder: Path, prefix: str) -> Iterator[BlobInfo]:
        """Yield objects in key order, with one folder in memory: names sort as keys do when folders end in a slash."""
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name + "/" if entry.is_dir() else entry.name for entry in entries)
        except _NOT_A_FILE:
            return
        for name in names:
            if name.endswith("/"):
                if prefix or name != f"{STAGING}/":
                    yield from self._walk(folder / name, prefix + name)
            elif (size := _size(folder / name)) is not None:
                yield BlobInfo(prefix + name, size)

    def _remove_old_staged(self) -> None:
        with self._trouble("written"):
            self._staged.remove_old()

    @contextmanager
    def _trouble(self, verb: str, key: str | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if key is not None and isinstance(error, _NOT_A_FILE):
                raise NotFound("object", key) from None
            if is_disk_full(error):
                found = f"the disk is full: the objects folder {self._root} cannot be {verb}"
                raise DiskFull(f"{found}; make room, nothing stored is lost") from error
            reason = "a file stands in its way" if isinstance(error, FileExistsError) else error.strerror or str(error)
            raise Unavailable(f"the objects folder {self._root} cannot be {verb}: {reason}") from error


def _write(handle: int, chunks: Sequence[bytes], *, durable: bool) -> None:
    with open(handle, "wb", buffering=1 << 20) as file:
        file.writelines(chunks)
        file.flush()
        if durable:
            os.fsync(handle)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # removed during the listing
        return None
