"""Presence by file locks: a process is alive while it holds the lock on its file in the data folder.

The kernel drops the lock when the process ends, SIGKILL included, and a recycled process id cannot be mistaken for the
old process.
"""

import fcntl
import os
from pathlib import Path

from longline.model.errors import Unavailable
from longline.model.ids import new_id

PROCESS_LOCKS_FOLDER = "alive"
"""Folder, inside the data folder, of the locked files that mark living processes."""


class FileProcessLock:
    """Lock files in one folder, which the processes of one machine share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: tuple[str, int] | None = None

    def enter(self) -> str:
        mark = f"{new_id()}.alive"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._folder / mark, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(f"cannot write to the folder {self._folder}: {error.strerror}") from error
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self._held = (mark, descriptor)
        return mark

    def gone(self, mark: str) -> bool:
        try:
            descriptor = os.open(self._folder / Path(mark).name, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False  # another machine's mark, or a process that left in good order: leases lapse anyway
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        else:
            return True
        finally:
            os.close(descriptor)

    def forget(self, mark: str) -> None:
        (self._folder / Path(mark).name).unlink(missing_ok=True)

    def release(self) -> None:
        if self._held is not None:
            mark, descriptor = self._held
            self._held = None
            self.forget(mark)
            os.close(descriptor)
