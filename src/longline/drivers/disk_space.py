"""Free space on a disk, proved by reserving it."""

import errno
import os
import shutil
import tempfile
from pathlib import Path

from longline.model.errors import DiskFull, Unavailable, is_disk_full

MIN_FREE_BYTES = 1024 * 1024
"""Bytes that must be free: a disk with less than this cannot take the next segment or transaction."""

_UNKNOWN_HERE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def check_room(folder: Path, wanted: int = MIN_FREE_BYTES) -> str:
    """Return the free space of a folder's disk; raise `DiskFull` when fewer than `wanted` bytes can be reserved."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), folder, wanted)
        return f"{shutil.disk_usage(folder).free / 1024**3:.1f} GB free"
    except OSError as error:
        if is_disk_full(error):
            raise DiskFull(f"the disk is full: nothing can be written into {folder}; make room") from error
        raise Unavailable(f"the folder {folder} cannot be written: {error.strerror or error}") from error


def _reserve(descriptor: int, folder: Path, wanted: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, wanted)
    except OSError as error:
        if error.errno not in _UNKNOWN_HERE:
            raise
        if shutil.disk_usage(folder).free < wanted:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
