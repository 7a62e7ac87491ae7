"""Objects that come piece by piece into a folder: staged, synced, then renamed.

A small object waits in memory for its end and is stored together with others; a large one is written while it comes.
"""

from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path

from longline.drivers.blobs.key_rules import checked_key
from longline.drivers.blobs.large_files import LargeFiles
from longline.drivers.blobs.small_file_batches import SmallFileBatches
from longline.drivers.blobs.staged_files import Piece, Trouble
from longline.drivers.blobs.synced_folders import SyncedFolders

SMALL_BYTES = 512 * 1024
"""Size up to which an object waits in memory for its end."""


class FolderUploads:
    """The objects that are on their way into one folder; `trouble` turns errors of files into our own."""

    def __init__(self, root: Path, folders: SyncedFolders, trouble: Trouble) -> None:
        self._small, self._large = SmallFileBatches(root, folders, trouble), LargeFiles(root, folders, trouble)

    async def upload(self, key: str, pieces: AsyncIterable[Piece]) -> int:
        """Store an object; return its number of bytes."""
        checked_key(key)
        rest = aiter(pieces)
        with self._small.coming():
            held, size = await _first_pieces(rest)
        if size > SMALL_BYTES:
            return await self._large.store(key, held, rest)
        await self._small.store(key, held)
        return size


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
