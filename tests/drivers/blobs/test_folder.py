import asyncio
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.blobs.folder import FolderBlobs
from longline.model.errors import BadInput, NotFound, Unavailable

NOBODY = 65534

ENDLESS_WRITER = """
import asyncio, sys
from longline.drivers.blobs import open_blobs

async def main():
    blobs = open_blobs(sys.argv[1])
    await blobs.put("object", b"a" * 4_000_000)
    print("written", flush=True)
    while True:
        for letter in (b"b", b"a"):
            await blobs.put("object", letter * 4_000_000)

asyncio.run(main())
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "objects"


@pytest.fixture
def blobs(root: Path) -> FolderBlobs:
    return FolderBlobs(root)


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Take away write permission on a folder for the block; root becomes another user."""
    folder.chmod(0o500)
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)
        folder.chmod(0o700)


# Durability


@pytest.fixture
def deeds(monkeypatch: pytest.MonkeyPatch, root: Path) -> list[tuple[str, str]]:
    """Syncs and renames in order, with paths relative to the folder of the test."""
    done: list[tuple[str, str]] = []
    real: dict[str, Any] = {name: getattr(os, name) for name in ("fsync", "replace")}

    def told(path: str) -> str:
        relative = os.path.relpath(path, root)
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", relative)

    def fsync(handle: int) -> None:
        done.append(("sync", told(os.readlink(f"/proc/self/fd/{handle}"))))
        real["fsync"](handle)

    def replace(source: Path, target: Path) -> None:
        done.append(("replace", told(str(target))))
        real["replace"](source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    return done


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files are told by their handles only on Linux")
async def test_a_stored_object_is_synced_with_its_name_and_the_names_of_its_folders(root, deeds, blobs):
    await blobs.put("a/b/c", b"x")
    # New folders are durable when their parents are synced: data in the test's, objects in data, and so on.
    made = [("sync", name) for name in ("../..", "..", ".", ".", "a")]
    written = [("sync", ".staging/ID"), ("replace", "a/b/c"), ("sync", "a/b")]
    assert deeds == made + written
    deeds.clear()
    await blobs.put("a/b/d", b"x")
    assert deeds == [("sync", ".staging/ID"), ("replace", "a/b/d"), ("sync", "a/b")]
    # Another process may have made the folders a moment ago without syncing them yet.
    deeds.clear()
    await FolderBlobs(root).put("a/b/e", b"x")
    assert deeds[:3] == [("sync", "."), ("sync", "."), ("sync", "a")]


async def test_a_killed_process_leaves_complete_objects_only(root, blobs):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ENDLESS_WRITER, str(root), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"written\n"
    await asyncio.sleep(0.05)
    process.kill()
    await process.wait()
    assert set(await blobs.get("object")) in ({ord("a")}, {ord("b")})
    assert len(await blobs.get("object")) == 4_000_000
    assert [info async for info in blobs.list()] == [("object", 4_000_000)]


async def test_old_files_in_the_staging_folder_are_removed(root, blobs):
    await blobs.check()
    old, fresh = root / ".staging" / "old", root / ".staging" / "fresh"
    for path in (old, fresh):
        path.write_bytes(b"half an obj")
    os.utime(old, (time.time() - 2 * 86_400,) * 2)
    await blobs.check()
    assert (old.exists(), fresh.exists()) == (False, True)


async def test_no_file_stays_in_the_staging_folder(root, blobs):
    await blobs.put("a", b"x")
    await blobs.put("a", b"y")
    assert list((root / ".staging").iterdir()) == []


async def test_a_removed_folder_is_made_again(root, blobs):
    await blobs.put("a/b", b"x")
    (root / "a" / "b").unlink()
    (root / "a").rmdir()
    await blobs.put("a/c", b"y")
    assert await blobs.get("a/c") == b"y"


# Limits of a folder


async def test_an_object_cannot_be_a_folder_as_well(blobs):
    await blobs.put("a/b", b"x")
    with pytest.raises(BadInput, match="'a' cannot be stored: there are objects below it"):
        await blobs.put("a", b"x")
    for below in ("a/b/c", "a/b/c/d"):
        with pytest.raises(BadInput, match="part of its path is an object itself"):
            await blobs.put(below, b"x")
    assert await blobs.get("a/b") == b"x"


# Failures


async def all_writes_fail(blobs: FolderBlobs, said: str) -> None:
    for attempt in (blobs.put("a", b"x"), blobs.check()):
        with pytest.raises(Unavailable) as caught:
            await attempt
        assert str(caught.value) == said


async def test_a_file_in_place_of_a_folder_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for root in (tmp_path / "file", tmp_path / "file" / "objects"):
        said = f"the objects folder {root} cannot be written: a file stands in its way"
        await all_writes_fail(FolderBlobs(root), said)


async def test_an_unwritable_folder_is_one_clear_line(tmp_path):
    with without_rights(tmp_path):
        root = tmp_path / "objects"
        await all_writes_fail(FolderBlobs(root), f"the objects folder {root} cannot be written: Permission denied")


async def test_a_folder_that_loses_its_permissions_is_unavailable(root, blobs):
    await blobs.put("a", b"x")
    with without_rights(root.parent.parent):
        with pytest.raises(Unavailable, match="cannot be written: Permission denied"):
            await blobs.put("a", b"y")
        if os.geteuid() == NOBODY:
            with pytest.raises(Unavailable, match="cannot be read: Permission denied"):
                await blobs.get("a")
            with pytest.raises(Unavailable, match="cannot be read: Permission denied"):
                await anext(blobs.list())
    assert await blobs.get("a") == b"x"


async def test_a_full_disk_leaves_the_earlier_object(root, blobs, monkeypatch):
    await blobs.put("a", b"before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match=r"the disk is full: .* cannot be written; make room"):
        await blobs.put("a", b"after")
    monkeypatch.undo()
    assert await blobs.get("a") == b"before"
    assert list((root / ".staging").iterdir()) == []


async def test_reading_makes_no_folder(root, blobs):
    with pytest.raises(NotFound):
        await blobs.get("a")
    assert [info async for info in blobs.list()] == []
    await blobs.delete(["a"])
    assert not root.exists()
