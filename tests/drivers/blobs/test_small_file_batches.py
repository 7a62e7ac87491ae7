"""Batches of small files: joint syncs, no rename before the syncs, and no remaining files."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from longline.drivers.blobs.folder import FolderBlobs
from longline.drivers.blobs.small_file_batches import SYNCS_AT_ONCE
from longline.model.errors import DiskFull
from tests.drivers.blobs.test_folder_uploads import Calls, flow


async def test_small_objects_that_end_together_share_the_sync_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blobs = FolderBlobs(tmp_path)
    await blobs.upload("f/first", flow(b"x"))
    calls = Calls(monkeypatch)
    await asyncio.gather(*(blobs.upload(f"f/{n}", flow(b"x" * n)) for n in range(50)))
    assert calls.made.count("replace") == 50
    assert 51 <= calls.made.count("fsync") <= 53  # each file, and the folder once for each batch
    assert calls.made.index("replace") >= 1
    assert calls.made[-1] == "fsync"


async def test_small_objects_are_synced_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blobs = FolderBlobs(tmp_path)
    await blobs.upload("f/first", flow(b"x"))
    together = threading.Barrier(SYNCS_AT_ONCE, timeout=10)

    def sync(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").readlink().parent.name == ".staging":
            together.wait()  # raises an error unless as many threads arrive here

    monkeypatch.setattr(os, "fsync", sync)
    await asyncio.gather(*(blobs.upload(f"f/{n}", flow(b"x")) for n in range(SYNCS_AT_ONCE)))


async def test_an_unexpected_error_ends_every_upload_of_its_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blobs = FolderBlobs(tmp_path)
    await blobs.upload("f/first", flow(b"x"))

    def broken(_: int) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(os, "fsync", broken)
    results = await asyncio.gather(*(blobs.upload(f"f/{n}", flow(b"x")) for n in range(9)), return_exceptions=True)
    assert {type(result) for result in results} == {RuntimeError}


async def test_a_full_disk_fails_every_object_of_a_batch_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blobs = FolderBlobs(tmp_path)

    await blobs.upload("f/first", flow(b"x"))
    await blobs.delete(["f/first"])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    results = await asyncio.gather(*(blobs.upload(f"f/{n}", flow(b"x")) for n in range(9)), return_exceptions=True)
    assert {type(result) for result in results} == {DiskFull}
    assert [info async for info in blobs.list()] == []
    assert list((tmp_path / ".staging").iterdir()) == []
    monkeypatch.undo()
    assert await blobs.upload("f/1", flow(b"x")) == 1
