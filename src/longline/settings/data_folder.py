"""The data folder: created, and checked for write permission."""

import tempfile
from pathlib import Path

from longline.model.errors import DiskFull, LonglineError, is_disk_full


def prepare_folder(folder: Path, flag: str = "--data") -> Path:
    """Create the data folder if missing and check that it is writable; otherwise raise a one-line error.

    `flag` is the flag of the command that names the folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        if is_disk_full(error):
            raise DiskFull(f"the disk is full: data folder {folder} cannot be written; make room") from error
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror or error
        raise LonglineError(f"data folder {folder} cannot be written: {reason}; name another with {flag}") from error
