"""Large files: an object that is too large for the memory goes to the disk while it comes."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from longline.drivers.blobs.staged_files import Piece, StagedFiles, Trouble, write_pieces
from longline.drivers.blobs.synced_folders import SyncedFolders

WRITE_BYTES = 512 * 1024
"""Bytes that are written in one go."""

SYNC_BYTES = 16 * 1024 * 1024
"""Bytes after which a file is synced while more of it comes, so that the sync at its end has little left to do."""

EARLY_SYNCS_AT_ONCE = 8
"""Files of a folder that are synced at the same time while more of them comes."""


class _EarlySync:
    """The sync of a file while more of it comes, in a thread of `pool`."""

    def __init__(self, pool: ThreadPoolExecutor, sync: Callable[[], None]) -> None:
        self._pool, self._sync, self._synced_bytes = pool, sync, 0
        self._running: Future[None] | None = None

    def start_after(self, size: int) -> None:
        """Start a sync if enough has been written since the last one, and that one has ended.

        The thread that writes calls it: the pool may start a thread, which would hold up the event loop.
        """
        if size - self._synced_bytes < SYNC_BYTES or not (self._running is None or self._running.done()):
            return
        if self._running is not None:
            self._running.result()
        self._synced_bytes = size
        self._running = self._pool.submit(self._sync)

    async def finish(self) -> None:
        """Wait for the running sync; raise its failure."""
        await self.wait()
        if self._running is not None:
            self._running.result()

    async def wait(self) -> None:
        """Wait for the running sync, whatever its result."""
        if self._running is not None and not self._running.done():
            running = asyncio.wrap_future(self._running)
            await _end_of(running)
            running.exception()  # marked as retrieved


class LargeFiles:
    """The large objects that are on their way into one folder."""

    def __init__(self, root: Path, folders: SyncedFolders, trouble: Trouble) -> None:
        self._root, self._folders, self._trouble = root, folders, trouble
        self._staged = StagedFiles(root, folders)
        # Not the threads of the event loop, which are few: on a slow disk the syncs would hold all of them.
        self._syncers = ThreadPoolExecutor(EARLY_SYNCS_AT_ONCE, "early sync")

    async def store(self, key: str, held: list[Piece], rest: AsyncIterator[Piece]) -> int:
        """Store an object of the pieces that are held and of those that come; return its number of bytes."""
        file = _LargeFile(self._staged, key)
        sync = _EarlySync(self._syncers, partial(self._act, file.sync)) if self._folders.durable else None
        try:
            await self._run(file.create)
            size = await self._write_all(file, held, rest, sync)
            if sync is not None:
                await sync.finish()
            await self._run(partial(self._publish, file))
            return size
        finally:
            try:
                if sync is not None:
                    await sync.wait()
            finally:
                file.close()

    async def _write_all(
        self, file: "_LargeFile", held: list[Piece], rest: AsyncIterator[Piece], sync: _EarlySync | None
    ) -> int:
        size, batch, waiting = 0, held, sum(map(len, held))
        while batch:
            size, waiting = size + waiting, 0
            await self._run(partial(_write, file.handle, batch, size, sync))
            batch.clear()  # the list of the caller too: pieces that were written are memory
            async for piece in rest:
                batch.append(piece)
                waiting += len(piece)
                if waiting >= WRITE_BYTES:
                    break
        return size

    def _publish(self, file: "_LargeFile") -> None:
        if self._folders.durable:
            os.fsync(file.handle)
        self._staged.rename(file.path, file.key)
        self._folders.sync((self._root / file.key).parent)

    async def _run(self, act: Callable[[], None]) -> None:
        await run_to_end(partial(self._act, act))

    def _act(self, act: Callable[[], None]) -> None:
        with self._trouble("written"):
            act()


class _LargeFile:
    """The staged file of an object."""

    path, handle = "", -1

    def __init__(self, staged: StagedFiles, key: str) -> None:
        self._staged, self.key = staged, key

    def create(self) -> None:
        """Make the file, empty."""
        self._staged.make_folders(self.key)
        self.path, self.handle = self._staged.create()

    def sync(self) -> None:
        """Sync the bytes that were written to the disk."""
        os.fdatasync(self.handle)

    def close(self) -> None:
        """Close the file, and remove it unless it has the name of its object."""
        if self.path:
            os.close(self.handle)
            with suppress(OSError):
                os.unlink(self.path)


def _write(handle: int, batch: list[Piece], size: int, sync: _EarlySync | None) -> None:
    """Write pieces, by which the file gets this size; start its sync if it is due."""
    write_pieces(handle, batch)
    if sync is not None:
        sync.start_after(size)


async def run_to_end(function: Callable[[], None]) -> None:
    """Run a function in a thread. A cancelled caller waits for its end too: nothing may write to a closed handle."""
    running = asyncio.get_running_loop().run_in_executor(None, function)
    await _end_of(running)
    running.result()


async def _end_of(running: "asyncio.Future[None]") -> None:
    """Wait for the end of a function in a thread; raise a cancellation of the caller after it."""
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        running.exception()  # marked as retrieved: the caller is told of its cancellation
        raise cancelled
