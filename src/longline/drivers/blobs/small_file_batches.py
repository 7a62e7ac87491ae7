"""Batches of small files: objects that end while others are being stored are stored together.

Files that are synced at the same time share the writes of the disk's cache. A sync of the whole file system would
wait for the files of all other programs too.
"""

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from longline.drivers.blobs.staged_files import Piece, StagedFiles, Trouble, write_pieces
from longline.drivers.blobs.synced_folders import SyncedFolders
from longline.model.errors import LonglineError

MAX_BATCH_OBJECTS = 128
BATCHES_AT_ONCE = 2
"""Batches of small objects that are stored at the same time: one is written while the other is synced."""

GATHER_SECONDS = 0.004
"""Seconds for which a batch of small objects waits for others that are on their way."""

SYNCS_AT_ONCE = 16
"""Files and folders that are synced at the same time."""


class _SmallObject(NamedTuple):
    """A small object that is whole and waits to be stored."""

    key: str
    pieces: Sequence[Piece]
    done: "asyncio.Future[None]"


@dataclass(slots=True)
class _BatchedFile:
    """A small object of a batch on its way: the path of its staged file, or the failure that ends it."""

    one: _SmallObject
    path: str = ""
    failure: Exception | None = None


class SmallFileBatches:
    """The small objects that are on their way into one folder."""

    def __init__(self, root: Path, folders: SyncedFolders, trouble: Trouble) -> None:
        self._root, self._folders, self._trouble = root, folders, trouble
        self._staged = StagedFiles(root, folders)
        self._waiting: list[_SmallObject] = []
        self._coming = 0
        self._storing: set[asyncio.Task[None]] = set()
        self._syncers = ThreadPoolExecutor(SYNCS_AT_ONCE, "object sync")  # its threads start with the first sync

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Count an object that is on its way while the context lasts: a batch waits a moment for it."""
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    async def store(self, key: str, pieces: Sequence[Piece]) -> None:
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
        files = [_BatchedFile(one) for one in batch]
        parents = self._make_parents(files)
        if self._folders.durable:
            shares = [files[first::SYNCS_AT_ONCE] for first in range(min(SYNCS_AT_ONCE, len(files)))]
            list(self._syncers.map(self._write_all, shares))
        else:
            self._write_all(files)
        for each in files:
            if each.failure is None:
                self._try(each, self._rename)
        self._sync_folders(files, parents)
        return [each.failure for each in files]

    def _make_parents(self, files: Sequence[_BatchedFile]) -> set[Path]:
        """Make the folders of a batch, each once; return them."""
        made: dict[str, Path] = {}
        for each in files:
            parent = each.one.key.rpartition("/")[0]
            if parent not in made:
                self._try(each, self._make_folders)
                if each.failure is None:
                    made[parent] = self._root / parent
        return set(made.values())

    def _make_folders(self, each: _BatchedFile) -> None:
        self._staged.make_folders(each.one.key)

    def _write_all(self, share: Sequence[_BatchedFile]) -> None:
        for each in share:
            if each.failure is None:
                self._try(each, self._write)

    def _try(self, each: _BatchedFile, act: Callable[[_BatchedFile], None]) -> None:
        """Act on a file; keep a failure with its object, and remove the staged file then."""
        try:
            with self._trouble("written"):
                act(each)
        except LonglineError as error:
            each.failure = error
            if each.path:
                with suppress(OSError):
                    os.unlink(each.path)

    def _write(self, each: _BatchedFile) -> None:
        """Write the staged file of an object, synced to the disk."""
        each.path, handle = self._staged.create()
        try:
            write_pieces(handle, each.one.pieces)
            if self._folders.durable:
                os.fsync(handle)
        finally:
            os.close(handle)

    def _rename(self, each: _BatchedFile) -> None:
        self._staged.rename(each.path, each.one.key)
        each.path = ""

    def _sync_folders(self, files: Sequence[_BatchedFile], parents: Collection[Path]) -> None:
        try:
            with self._trouble("written"):
                if self._folders.durable:
                    list(self._syncers.map(self._folders.sync, parents))
        except LonglineError as error:
            for each in files:
                each.failure = each.failure or error
