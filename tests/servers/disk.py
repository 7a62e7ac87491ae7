"""A disk of a few megabytes, which can be filled without harm."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_CHUNK = 4096


class SmallDisk:
    """A mounted file system in memory; its folder is gone after the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def resize(self, megabytes: int) -> None:
        """Make the disk larger."""
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", self.folder], check=True, capture_output=True)

    def fill(self) -> None:
        """Leave no room at all."""
        with self._filler.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * _CHUNK):
                pass

    def free(self) -> None:
        """Give back what was filled."""
        self._filler.unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a disk of this size at a folder; that takes root's rights."""
    if os.geteuid() != 0:
        pytest.skip("a small disk can be mounted by root only; tests/drivers/test_room.py needs none")
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "longline-test", str(folder)]
    subprocess.run(words, check=True, capture_output=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
