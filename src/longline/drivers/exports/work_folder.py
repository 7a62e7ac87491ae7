"""The hidden folder beside a file in which the file is made."""

import fcntl
import os
import shutil
from pathlib import Path

from longline.drivers.exports.failures import explained
from longline.model.errors import Unavailable


class WorkFolder:
    """A folder beside a named file, for one process at a time; the leftovers of a killed process are removed."""

    def __init__(self, file: str) -> None:
        place = Path(file).absolute()
        self.path = place.with_name(f".{place.name}.work")
        with explained(file):
            self.path.mkdir(exist_ok=True)
            self._lock = os.open(self.path, os.O_RDONLY)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._lock)
                raise Unavailable(f"another process writes {file}; wait for its end, or name another file") from None
            for left in self.path.iterdir():
                left.unlink()

    def remove(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)
