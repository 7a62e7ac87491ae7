import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longline.model.errors import LonglineError
from longline.settings import prepare_folder

NOBODY = 65534


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Take away write permission: root becomes another user for the block, other users lose it on the folder."""
    mode = folder.stat().st_mode
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    else:
        folder.chmod(0o500)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(mode)


def test_the_folder_is_made_and_left_as_it_was(tmp_path: Path):
    folder = tmp_path / "a" / "b"
    assert prepare_folder(folder) == folder
    assert list(folder.iterdir()) == []


def test_a_folder_below_a_file_is_refused_in_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LonglineError, match="cannot be written: Not a directory; name another with --data"):
        prepare_folder(tmp_path / "file" / "data")


def test_a_file_instead_of_a_folder_is_refused_in_one_line(tmp_path: Path):
    (tmp_path / "data").write_text("")
    with pytest.raises(LonglineError, match="cannot be written: it is a file"):
        prepare_folder(tmp_path / "data")


def test_a_folder_without_write_permission_is_refused_in_one_line(tmp_path: Path):
    with without_rights(tmp_path), pytest.raises(LonglineError, match="cannot be written: Permission denied"):
        prepare_folder(tmp_path / "data")
    with without_rights(tmp_path), pytest.raises(LonglineError, match="cannot be written: Permission denied"):
        prepare_folder(tmp_path)
