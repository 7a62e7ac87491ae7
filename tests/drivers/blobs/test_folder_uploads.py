"""Uploads into a folder: no rename before the syncs, and no remaining files."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from longline.drivers.blobs.folder import FolderBlobs
from longline.drivers.blobs.folder_uploads import SMALL_BYTES


async def flow(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class Calls:
    """Syncs and renames, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[str] = []
        monkeypatch.setattr(os, "fsync", self._noted("fsync", os.fsync))
        monkeypatch.setattr(os, "replace", self._noted("replace", os.replace))

    def _noted(self, name: str, act: Callable[..., object]) -> Callable[..., object]:
        def noted(*given: object) -> object:
            self.made.append(name)
            return act(*given)

        return noted


async def test_a_large_object_is_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blobs = FolderBlobs(tmp_path)
    await blobs.upload("f/first", flow(b"x"))
    calls = Calls(monkeypatch)
    await blobs.upload("f/large", flow(b"x" * SMALL_BYTES, b"y"))
    assert calls.made == ["fsync", "replace", "fsync"]


async def test_without_durability_nothing_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls = Calls(monkeypatch)
    blobs = FolderBlobs(tmp_path, durable=False)
    await asyncio.gather(*(blobs.upload(f"f/{n}", flow(b"x" * n)) for n in range(9)))
    await blobs.upload("large", flow(b"x" * SMALL_BYTES, b"y"))
    assert set(calls.made) == {"replace"}


async def test_a_folder_that_another_process_removed_is_made_again(tmp_path: Path):
    blobs = FolderBlobs(tmp_path)
    await blobs.upload("f/1", flow(b"x"))
    await blobs.delete(["f/1"])
    (tmp_path / "f").rmdir()
    await blobs.upload("f/2", flow(b"x"))
    (tmp_path / "f/2").unlink()
    (tmp_path / "f").rmdir()
    await blobs.upload("f/3", flow(b"x" * SMALL_BYTES, b"y"))
    assert [info.key async for info in blobs.list()] == ["f/3"]
