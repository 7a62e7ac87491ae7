"""Folders that are synced together with their names."""

import os
from pathlib import Path

import pytest

from longline.drivers.blobs.synced_folders import SyncedFolders


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are synced, in order."""
    found: list[Path] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        found.append(Path(f"/proc/self/fd/{handle}").readlink())
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_a_new_folder_is_synced_with_its_parents_once(tmp_path: Path, synced: list[Path]):
    folders = SyncedFolders(tmp_path / "root")
    folders.make(tmp_path / "root/a/b")
    assert synced == [tmp_path, tmp_path / "root", tmp_path / "root/a"]
    folders.make(tmp_path / "root/a/b")
    assert len(synced) == 3
    folders.forget()
    folders.make(tmp_path / "root/a/b")
    assert len(synced) > 3


def test_nothing_is_synced_without_durability(tmp_path: Path, synced: list[Path]):
    folders = SyncedFolders(tmp_path / "root", durable=False)
    folders.make(tmp_path / "root/a")
    folders.sync(tmp_path)
    assert synced == []
    assert (tmp_path / "root/a").is_dir()
