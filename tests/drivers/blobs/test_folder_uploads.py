"""Uploads into a folder: joint syncs of small objects, no rename before the syncs, nothing left behind."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from longline.drivers.blobs.folder import FolderBlobs
from longline.drivers.blobs.folder_uploads import SMALL_BYTES, SYNCS_AT_ONCE
from longline.model.errors import DiskFull


async def flow(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class Calls:
    """The syncs and renames, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[str] = []
        monkeypatch.setattr(os, "fsync", self._noted("fsync", os.fsync))
        monkeypatch.setattr(os, "replace", self._noted("replace", os.replace))

    def _noted(self, name: str, act: Callable[..., object]) -> Callable[..., object]:
        def noted(*given: object) -> object:
            self.made.append(name)
            return act(*given)

        return noted


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
            together.wait()  # raises an error unless as many threads come here

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


async def test_a_large_object_is_synced_before_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
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


async def test_a_full_disk_fails_every_object_of_a_batch_and_leaves_nothing(
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
