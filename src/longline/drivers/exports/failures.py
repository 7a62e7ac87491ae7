"""Failures to write files, explained to a person."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longline.model.errors import DiskFull, Unavailable, is_disk_full


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Raise `DiskFull` or `Unavailable`, with the named file, for failures of the block."""
    try:
        yield
    except OSError as error:
        raise _explanation(error, path) from error
    except Exception as error:
        # The table writers raise errors of their own for a full disk.
        if not shutil.disk_usage(Path(path).absolute().parent).free:
            raise _explanation(OSError(errno.ENOSPC, str(error)), path) from error
        raise


def _explanation(error: OSError, path: str) -> Unavailable:
    if is_disk_full(error):
        return DiskFull(f"the disk is full: cannot write {path}; make room, or name another file with -o")
    return Unavailable(f"cannot write {path}: {error.strerror or error}")
