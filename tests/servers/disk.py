"""A disk of a few megabytes, which can be filled without harm."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

_CHUNK = 4096
_ROOT = Path(__file__).parents[2]
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def mounting(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test that mounts disks; without root's rights, in a process that is root in a user namespace."""

    @functools.wraps(test)
    def run(*args: Any, **more: Any) -> None:
        if os.geteuid() == 0:
            test(*args, **more)
            return
        try:
            subprocess.run([*_NAMESPACE, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"mounting a small disk takes root's rights or a user namespace: {error}")
        name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        words = [*_NAMESPACE, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
        others = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        done = subprocess.run(words, cwd=_ROOT, env=others, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


class SmallDisk:
    """A mounted file system in memory; its folder is removed after the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def resize(self, megabytes: int) -> None:
        """Make the disk larger."""
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", self.folder], check=True, capture_output=True)

    def fill(self) -> None:
        """Fill the disk to the last byte."""
        with self._filler.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * _CHUNK):
                pass

    def free(self) -> None:
        """Free the space that was filled."""
        self._filler.unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a disk of this size at a folder; that takes root's rights, which a test with the mark `mounting` has."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "longline-test", str(folder)]
    subprocess.run(words, check=True, capture_output=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
