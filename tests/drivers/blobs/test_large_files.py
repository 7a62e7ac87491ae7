"""Large files: written and synced while they are received, and stored completely or not at all."""

import asyncio
import errno
import gc
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.blobs import large_files
from longline.drivers.blobs.folder import FolderBlobs
from longline.drivers.blobs.folder_uploads import SMALL_BYTES
from longline.model.errors import DiskFull, Unavailable
from tests.drivers.blobs.test_folder_uploads import flow

PATIENCE = 30
"""Seconds after which a test gives up."""


async def large(pieces: int) -> AsyncIterator[bytes]:
    for number in range(pieces):
        yield bytes([number]) * SMALL_BYTES


async def test_a_large_object_is_synced_while_it_is_received(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(large_files, "SYNC_BYTES", 2 * SMALL_BYTES)
    sizes: list[int] = []

    def sync(handle: int) -> None:
        sizes.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fdatasync", sync)
    assert await FolderBlobs(tmp_path).upload("large", large(9)) == 9 * SMALL_BYTES
    assert len(sizes) >= 2
    assert 2 * SMALL_BYTES <= sizes[0] < 9 * SMALL_BYTES
    sizes.clear()
    await FolderBlobs(tmp_path, durable=False).upload("large", large(9))
    assert sizes == []


async def test_a_failed_sync_of_a_large_object_fails_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(large_files, "SYNC_BYTES", 2 * SMALL_BYTES)

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    blobs = FolderBlobs(tmp_path)
    with pytest.raises(Unavailable, match="Input/output error"):
        await blobs.upload("large", large(3))
    assert [info async for info in blobs.list()] == []
    assert list((tmp_path / ".staging").iterdir()) == []


async def test_slow_syncs_of_large_objects_leave_the_threads_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(large_files, "SYNC_BYTES", 2 * SMALL_BYTES)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    blobs, syncing, go_on = FolderBlobs(tmp_path), threading.Barrier(3), threading.Event()

    def slow_sync(_: int) -> None:
        syncing.wait(PATIENCE)
        assert go_on.wait(PATIENCE)

    monkeypatch.setattr(os, "fdatasync", slow_sync)
    uploads = [asyncio.create_task(blobs.upload(f"large/{n}", large(3))) for n in range(2)]
    with ThreadPoolExecutor(1) as looker:
        await asyncio.get_running_loop().run_in_executor(looker, syncing.wait, PATIENCE)
    done, _ = await asyncio.wait([asyncio.create_task(asyncio.to_thread(os.getpid))], timeout=PATIENCE / 10)
    go_on.set()
    assert done
    assert await asyncio.gather(*uploads) == [3 * SMALL_BYTES] * 2


async def test_a_full_disk_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The sync fails together with the write; its failure must not be reported as that of a lost future."""
    monkeypatch.setattr(large_files, "SYNC_BYTES", 2 * SMALL_BYTES)
    lost, failed, write = list[Any](), threading.Event(), os.write
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))

    def full_sync(_: int) -> None:
        failed.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    def full_write(handle: int, data: bytes) -> int:
        if os.fstat(handle).st_size < 2 * SMALL_BYTES:
            return write(handle, data)
        assert failed.wait(PATIENCE)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", full_sync)
    monkeypatch.setattr(os, "write", full_write)
    with pytest.raises(DiskFull):
        await FolderBlobs(tmp_path).upload("large", large(9))
    gc.collect()
    assert lost == []


async def test_a_cancelled_upload_closes_its_file_after_the_last_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A write to a closed handle would reach the next file that is opened."""
    blobs, writing, go_on, events = FolderBlobs(tmp_path), threading.Event(), threading.Event(), list[str]()
    write, close = os.write, os.close

    def held_write(handle: int, data: bytes) -> int:
        writing.set()
        assert go_on.wait(PATIENCE)
        size = write(handle, data)
        events.append("written")
        return size

    def noted_close(handle: int) -> None:
        events.append("closed")
        close(handle)

    await blobs.upload("first", flow(b"x"))
    monkeypatch.setattr(os, "write", held_write)
    upload = asyncio.create_task(blobs.upload("large", large(9)))
    await asyncio.to_thread(writing.wait, PATIENCE)
    monkeypatch.setattr(os, "close", noted_close)
    upload.cancel()
    await asyncio.wait([upload], timeout=0.01)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert events[-2:] == ["written", "closed"]
    assert events.count("closed") == 1
    assert list((tmp_path / ".staging").iterdir()) == []
