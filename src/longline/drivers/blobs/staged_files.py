"""Staged files: a file is written beside the objects, and gets the name of its object when it is whole."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from longline.drivers.blobs.key_rules import STAGING
from longline.drivers.blobs.synced_folders import SyncedFolders
from longline.model.errors import BadInput
from longline.model.ids import new_id

MAX_STAGED_SECONDS = 24 * 3600
"""Age of a staged file that a dead process left behind: no write takes a day."""

Piece = bytes | memoryview
Trouble = Callable[[str], AbstractContextManager[None]]
"""A context that turns errors of files into our own; its argument is the verb of the failed action."""


class StagedFiles:
    """The files of one folder of objects that are not whole yet."""

    def __init__(self, root: Path, folders: SyncedFolders) -> None:
        self._root, self._folders, self._staging = root, folders, root / STAGING

    def create(self) -> tuple[str, int]:
        """Make an empty staged file; return its path and its handle for writing."""
        path = f"{self._staging}/{new_id()}"
        return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def make_folders(self, key: str) -> Path:
        """Make the folder of staged files and that of the object; return the latter."""
        self._folders.make(self._staging)
        parent = (self._root / key).parent
        try:
            self._folders.make(parent)
        except (FileExistsError, NotADirectoryError):
            raise BadInput(f"object {key!r} cannot be stored: a part of its path is an object itself") from None
        return parent

    def rename(self, path: str, key: str) -> None:
        """Give a staged file the name of its object."""
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

    def remove_old(self) -> None:
        """Remove the staged files of processes that died during a write."""
        for staged in self._staging.iterdir():
            try:
                if time.time() - staged.stat().st_mtime > MAX_STAGED_SECONDS:
                    staged.unlink()
            except FileNotFoundError:
                continue


def write_pieces(handle: int, pieces: Sequence[Piece]) -> None:
    """Write pieces to the end of a file; the system may take fewer bytes at once than are given."""
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(handle, view) :]
