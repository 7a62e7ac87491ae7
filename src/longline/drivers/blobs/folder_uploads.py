"""Objects that come piece by piece into a folder: staged, synced, then renamed.

A small object waits in memory for its end. Small objects that end while others are being stored are stored together:
files that are synced at the same time share the writes of the disk's cache. A sync of the whole file system would
wait for the files of all other programs too.
"""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from longline.drivers.blobs.object_keys import STAGING, checked_key
from longline.drivers.blobs.synced_folders import SyncedFolders
from longline.model.errors import BadInput, LonglineError
from longline.model.ids import new_id

SMALL_BYTES = 512 * 1024
"""Size up to which an object waits in memory for its end."""

WRITE_BYTES = 512 * 1024
"""Bytes that are written in one go."""

MAX_BATCH_OBJECTS = 512
SYNCS_AT_ONCE = 8
"""Files and folders that are synced at the same time."""

Piece = bytes | memoryview
Trouble = Callable[[str], AbstractContextManager[None]]


class _SmallObject(NamedTuple):
    """A small object that is whole and waits to be stored."""

    key: str
    pieces: Sequence[Piece]
    done: "asyncio.Future[None]"


class FolderUploads:
    """The objects that are on their way into one folder; `trouble` turns errors of files into our own."""

    def __init__(self, root: Path, folders: SyncedFolders, trouble: Trouble) -> None:
        self._root, self._staging, self._folders, self._trouble = root, root / STAGING, folders, trouble
        self._waiting: list[_SmallObject] = []
        self._storing: asyncio.Task[None] | None = None
        self._syncers = ThreadPoolExecutor(SYNCS_AT_ONCE, "object sync")  # its threads start with the first sync

    async def upload(self, key: str, pieces: AsyncIterable[Piece]) -> int:
        """Store an object; return its number of bytes."""
        checked_key(key)
        held: list[Piece] = []
        size, rest = 0, aiter(pieces)
        async for piece in rest:
            held.append(piece)
            size += len(piece)
            if size > SMALL_BYTES:
                return await self._stream(key, held, rest)
        await self._join(key, held)
        return size

    # -- small objects ----------------------------------------------------------------------------------------

    async def _join(self, key: str, pieces: Sequence[Piece]) -> None:
        """Store a small object together with others that are whole by then."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_SmallObject(key, pieces, done))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_all(), name="small objects")
        await done

    async def _store_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MAX_BATCH_OBJECTS], self._waiting[MAX_BATCH_OBJECTS:]
                try:
                    failures = await asyncio.to_thread(self._store, batch)
                except Exception as error:  # no upload may wait for ever
                    failures = [error] * len(batch)
                for one, failure in zip(batch, failures, strict=True):
                    if one.done.done():
                        continue
                    if failure is None:
                        one.done.set_result(None)
                    else:
                        one.done.set_exception(failure)
        finally:
            self._storing = None

    def _store(self, batch: Sequence[_SmallObject]) -> list[Exception | None]:
        """Store objects; return the failure of each. Objects fail one by one, a sync fails for all of them."""
        failures: list[Exception | None] = [None] * len(batch)
        staged = [self._try(failures, place, self._stage_small, one) for place, one in enumerate(batch)]
        try:
            with self._trouble("written"):
                self._sync([path for path in staged if path is not None])
        except LonglineError as error:
            failures = [failure or error for failure in failures]
        parents: set[Path] = set()
        for place, (one, path) in enumerate(zip(batch, staged, strict=True)):
            if path is not None and failures[place] is None:
                self._try(failures, place, self._rename, path, one.key)
                parents.add((self._root / one.key).parent)
            if path is not None and failures[place] is not None:
                path.unlink(missing_ok=True)
        try:
            with self._trouble("written"):
                self._sync(list(parents))
        except LonglineError as error:
            failures = [failure or error for failure in failures]
        return failures

    def _try(
        self, failures: list[Exception | None], place: int, act: Callable[..., Path | None], *given: object
    ) -> Path | None:
        try:
            with self._trouble("written"):
                return act(*given)
        except LonglineError as error:
            failures[place] = error
            return None

    def _stage_small(self, one: _SmallObject) -> Path:
        self._make_room(one.key)
        path = self._staging / new_id()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                _write(handle, one.pieces)
            finally:
                os.close(handle)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _sync(self, paths: Sequence[Path]) -> None:
        """Sync files or folders to the disk, several at once."""
        if self._folders.durable:
            shares = [paths[first::SYNCS_AT_ONCE] for first in range(min(SYNCS_AT_ONCE, len(paths)))]
            list(self._syncers.map(_sync_all, shares))

    # -- large objects ----------------------------------------------------------------------------------------

    async def _stream(self, key: str, held: list[Piece], rest: AsyncIterator[Piece]) -> int:
        """Store an object that is too large for the memory."""
        path, handle = await asyncio.to_thread(self._create, key)
        size, batch, waiting = 0, held, sum(map(len, held))
        try:
            while batch:
                await asyncio.to_thread(self._append, handle, batch)
                size, waiting = size + waiting, 0
                batch.clear()  # the list of the caller too: pieces that were written are memory
                async for piece in rest:
                    batch.append(piece)
                    waiting += len(piece)
                    if waiting >= WRITE_BYTES:
                        break
            await asyncio.to_thread(self._publish, handle, path, key)
            return size
        finally:
            os.close(handle)
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _create(self, key: str) -> tuple[Path, int]:
        with self._trouble("written"):
            self._make_room(key)
            path = self._staging / new_id()
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def _append(self, handle: int, pieces: Sequence[Piece]) -> None:
        with self._trouble("written"):
            _write(handle, pieces)

    def _publish(self, handle: int, path: Path, key: str) -> None:
        with self._trouble("written"):
            if self._folders.durable:
                os.fsync(handle)
            self._rename(path, key)
            self._folders.sync((self._root / key).parent)

    # -- both -------------------------------------------------------------------------------------------------

    def _make_room(self, key: str) -> None:
        """Make the folders that an object needs."""
        self._folders.make(self._staging)
        try:
            self._folders.make((self._root / key).parent)
        except (FileExistsError, NotADirectoryError):
            raise BadInput(f"object {key!r} cannot be stored: a part of its path is an object itself") from None

    def _rename(self, path: Path, key: str) -> None:
        target = self._root / key
        try:
            try:
                path.replace(target)
            except FileNotFoundError:  # another process removed a folder that was made here
                self._folders.forget()
                self._folders.make(target.parent)
                path.replace(target)
        except IsADirectoryError:
            raise BadInput(f"object {key!r} cannot be stored: there are objects below it") from None


def _write(handle: int, pieces: Sequence[Piece]) -> None:
    """Write pieces to the end of a file; the system may take fewer bytes at once than are given."""
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(handle, view) :]


def _sync_all(paths: Sequence[Path]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
