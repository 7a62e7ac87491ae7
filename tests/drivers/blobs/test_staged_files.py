"""Staged files: old ones are removed, and a rename makes a folder that another process removed."""

import os
import time
from pathlib import Path

import pytest

from longline.drivers.blobs.staged_files import MAX_STAGED_SECONDS, Piece, StagedFiles, write_pieces
from longline.drivers.blobs.synced_folders import SyncedFolders
from longline.model.errors import BadInput


@pytest.fixture
def staged(tmp_path: Path) -> StagedFiles:
    return StagedFiles(tmp_path, SyncedFolders(tmp_path))


def write(staged: StagedFiles, key: str, *pieces: Piece) -> str:
    staged.make_folders(key)
    path, handle = staged.create()
    write_pieces(handle, pieces)
    os.close(handle)
    return path


def test_a_file_gets_the_name_of_its_object(staged: StagedFiles, tmp_path: Path):
    path = write(staged, "a/b", b"one", b"", b"two")
    assert not (tmp_path / "a/b").exists()
    staged.rename(path, "a/b")
    assert (tmp_path / "a/b").read_bytes() == b"onetwo"
    assert not Path(path).exists()


def test_a_short_write_is_continued(staged: StagedFiles, monkeypatch: pytest.MonkeyPatch):
    whole = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: whole(handle, data[:3]))
    assert Path(write(staged, "a", b"0123456789", memoryview(b"abcd"))).read_bytes() == b"0123456789abcd"


def test_a_folder_that_another_process_removed_is_made_again(staged: StagedFiles, tmp_path: Path):
    path = write(staged, "a/b", b"x")
    (tmp_path / "a").rmdir()
    staged.rename(path, "a/b")
    assert (tmp_path / "a/b").read_bytes() == b"x"


def test_an_object_cannot_be_a_folder_of_objects_or_lie_below_one(staged: StagedFiles):
    staged.rename(write(staged, "a/b", b"x"), "a/b")
    with pytest.raises(BadInput, match="there are objects below it"):
        staged.rename(write(staged, "c", b"y"), "a")
    with pytest.raises(BadInput, match="a part of its path is an object itself"):
        staged.make_folders("a/b/c")


def test_only_files_of_dead_processes_are_removed(staged: StagedFiles):
    young, old = write(staged, "a", b"x"), write(staged, "b", b"y")
    past = time.time() - MAX_STAGED_SECONDS - 60
    os.utime(old, (past, past))
    staged.remove_old()
    assert Path(young).exists()
    assert not Path(old).exists()
