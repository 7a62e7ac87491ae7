"""Folders whose names survive a power cut."""

import os
from pathlib import Path

_MAX_SYNCED_FOLDERS = 4096


class SyncedFolders:
    """Folders below a root; without `durable` nothing is synced to the disk."""

    def __init__(self, root: Path, *, durable: bool = True) -> None:
        self._root, self.durable = root, durable
        self._synced: set[Path] = set()  # folders with names that are known to be on disk

    def make(self, folder: Path) -> None:
        """Make a folder and sync its parent, so that the folder's name survives a power cut."""
        if folder in self._synced:
            return
        is_new, is_inside = not folder.is_dir(), self._root in folder.parents
        if is_new or is_inside:
            self.make(folder.parent)
        if is_new:
            folder.mkdir(exist_ok=True)
        if is_new or is_inside:
            self.sync(folder.parent)
        if len(self._synced) >= _MAX_SYNCED_FOLDERS:
            self._synced.clear()
        self._synced.add(folder)

    def forget(self) -> None:
        """Forget the folders that were made: another process has removed one."""
        self._synced.clear()

    def sync(self, folder: Path) -> None:
        """Sync the names in a folder to the disk."""
        if not self.durable:
            return
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
