"""Objects that come piece by piece into a folder: staged, synced, then renamed.

A small object waits in memory for its end. Small objects that end while others are being stored are stored together:
files that are synced at the same time share the writes of the disk's cache. A sync of the whole file system would
wait for the files of all other programs too.
"""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
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

MAX_BATCH_OBJECTS = 128
BATCHES_AT_ONCE = 2
"""Batches of small objects that are stored at the same time: one is written while the other is synced."""

GATHER_SECONDS = 0.004
"""Seconds for which a batch of small objects waits for others that are on their way."""

SYNCS_AT_ONCE = 16
"""Files and folders that are synced at the same time."""

Piece = bytes | memoryview
Trouble = Callable[[str], AbstractContextManager[None]]


class _SmallObject(NamedTuple):
    """A small object that is whole and waits to be stored."""

    key: str
    pieces: Sequence[Piece]
    done: "asyncio.Future[None]"


@dataclass(slots=True)
class _Staged:
    """A small object of a batch on its way: the path of its staged file, or the failure that ends it."""

    one: _SmallObject
    path: str = ""
    failure: Exception | None = None


class FolderUploads:
    """The objects that are on their way into one folder; `trouble` turns errors of files into our own."""

    def __init__(self, root: Path, folders: SyncedFolders, trouble: Trouble) -> None:
        self._root, self._staging, self._folders, self._trouble = root, root / STAGING, folders, trouble
        self._waiting: list[_SmallObject] = []
        self._coming = 0
        self._storing: set[asyncio.Task[None]] = set()
        self._syncers = ThreadPoolExecutor(SYNCS_AT_ONCE, "object sync")  # its threads start with the first sync

    async def upload(self, key: str, pieces: AsyncIterable[Piece]) -> int:
        """Store an object; return its number of bytes."""
        checked_key(key)
        rest = aiter(pieces)
        self._coming += 1
        try:
            held, size = await _first_pieces(rest)
        finally:
            self._coming -= 1
        if size > SMALL_BYTES:
            return await self._stream(key, held, rest)
        await self._join(key, held)
        return size

    # -- small objects ----------------------------------------------------------------------------------------

    async def _join(self, key: str, pieces: Sequence[Piece]) -> None:
        """Store a small object together with others that are whole by then."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(_SmallObject(key, pieces, done))
        if len(self._storing) < BATCHES_AT_ONCE:
            task = asyncio.create_task(self._store_all(), name="small objects")
            self._storing.add(task)
            task.add_done_callback(self._storing.discard)
        await done

    async def _store_all(self) -> None:
        while self._waiting:
            if self._coming:
                await asyncio.sleep(GATHER_SECONDS)
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

    def _store(self, batch: Sequence[_SmallObject]) -> list[Exception | None]:
        """Store objects; return the failure of each. Objects fail one by one, the sync of a folder fails for all."""
        staged = [_Staged(one) for one in batch]
        parents = self._make_parents(staged)
        if self._folders.durable:
            shares = [staged[first::SYNCS_AT_ONCE] for first in range(min(SYNCS_AT_ONCE, len(staged)))]
            list(self._syncers.map(self._stage_all, shares))
        else:
            self._stage_all(staged)
        for each in staged:
            if each.failure is None:
                self._try(each, self._name_small)
        self._sync_folders(staged, parents)
        return [each.failure for each in staged]

    def _make_parents(self, staged: Sequence[_Staged]) -> set[Path]:
        """Make the folders of a batch, each once; return them."""
        made: dict[str, Path] = {}
        for each in staged:
            parent = each.one.key.rpartition("/")[0]
            if parent not in made:
                self._try(each, self._make_room_for)
                if each.failure is None:
                    made[parent] = self._root / parent
        return set(made.values())

    def _make_room_for(self, each: _Staged) -> None:
        self._make_room(each.one.key)

    def _stage_all(self, share: Sequence[_Staged]) -> None:
        for each in share:
            if each.failure is None:
                self._try(each, self._stage_small)

    def _try(self, each: _Staged, act: Callable[[_Staged], None]) -> None:
        try:
            with self._trouble("written"):
                act(each)
        except LonglineError as error:
            each.failure = error
            if each.path:
                with suppress(OSError):
                    os.unlink(each.path)

    def _stage_small(self, each: _Staged) -> None:
        """Write the staged file of an object, synced to the disk."""
        path = f"{self._staging}/{new_id()}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        each.path = path
        try:
            _write(handle, each.one.pieces)
            if self._folders.durable:
                os.fsync(handle)
        finally:
            os.close(handle)

    def _name_small(self, each: _Staged) -> None:
        self._rename(each.path, each.one.key)
        each.path = ""

    def _sync_folders(self, staged: Sequence[_Staged], parents: Collection[Path]) -> None:
        try:
            with self._trouble("written"):
                if self._folders.durable:
                    list(self._syncers.map(self._folders.sync, parents))
        except LonglineError as error:
            for each in staged:
                each.failure = each.failure or error

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
            self._rename(str(path), key)
            self._folders.sync((self._root / key).parent)

    # -- both -------------------------------------------------------------------------------------------------

    def _make_room(self, key: str) -> None:
        """Make the folders that an object needs."""
        self._folders.make(self._staging)
        try:
            self._folders.make((self._root / key).parent)
        except (FileExistsError, NotADirectoryError):
            raise BadInput(f"object {key!r} cannot be stored: a part of its path is an object itself") from None

    def _rename(self, path: str, key: str) -> None:
        target = f"{self._root}/{key}"
        try:
            try:
                os.replace(path, target)
            except FileNotFoundError:  # another process removed a folder that was made here
                self._folders.forget()
                self._folders.make(Path(target).parent)
                os.replace(path, target)
        except IsADirectoryError:
            raise BadInput(f"object {key!r} cannot be stored: there are objects below it") from None


async def _first_pieces(pieces: AsyncIterator[Piece]) -> tuple[list[Piece], int]:
    """Return the pieces of a small object, or those by which an object is known to be large, and their size."""
    held: list[Piece] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > SMALL_BYTES:
            break
    return held, size


def _write(handle: int, pieces: Sequence[Piece]) -> None:
    """Write pieces to the end of a file; the system may take fewer bytes at once than are given."""
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(handle, view) :]
