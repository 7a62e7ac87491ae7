"""Room on a disk: proved by reserving it, and reported when there is none."""

import errno
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.disk_space import check_room
from longline.drivers.exports import FolderExport
from longline.model.errors import DiskFull, Unavailable


class Row(msgspec.Struct):
    n: int


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_folder_with_room_returns_the_amount(tmp_path: Path):
    assert check_room(tmp_path).endswith(" GB free")
    assert list(tmp_path.iterdir()) == [], "no file is left"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_or_quota_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int):
    def full(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(DiskFull, match="the disk is full: nothing can be written into"):
        check_room(tmp_path)


def test_a_system_without_reservation_is_checked_by_its_free_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def unknown(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not here")

    monkeypatch.setattr(os, "posix_fallocate", unknown)
    assert check_room(tmp_path)
    with pytest.raises(DiskFull):
        check_room(tmp_path, 1 << 60)


def test_a_missing_folder_is_no_full_disk(tmp_path: Path):
    with pytest.raises(Unavailable) as told:
        check_room(tmp_path / "none")
    assert not isinstance(told.value, DiskFull)


async def test_a_store_without_room_for_an_object_is_full_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    blobs, reserved = open_blobs(str(tmp_path / "objects")), []
    await blobs.check()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        with pytest.raises(DiskFull, match="make room, nothing stored is lost"):
            await blobs.put("large", bytes(3 << 20))
    real = os.posix_fallocate

    def reserve(descriptor: int, start: int, size: int) -> None:
        reserved.append(size)
        real(descriptor, start, size)

    monkeypatch.setattr(os, "posix_fallocate", reserve)
    await blobs.check()
    assert reserved == [3 << 20], "room for the refused object is checked"
    await blobs.check()
    assert reserved[1] < 3 << 20
    assert [key async for key in blobs.list()] == []


@pytest.mark.parametrize("formats", [("warc",), ("jsonl",), ("parquet",)])
async def test_an_export_without_room_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, formats):
    class Full:
        def write(self, _: object) -> None:
            refuse()

        writelines = write

        def close(self) -> None:
            refuse()

    with FolderExport(tmp_path, formats) as export:
        opened: Any = export._open
        monkeypatch.setattr(export, "_file", lambda name: opened.setdefault(name, Full()))
        with pytest.raises(DiskFull, match="make room, or name another folder"):
            await (export.members([b"x"]) if formats == ("warc",) else export.rows("pages", [Row(1)]))
    assert os.listdir(tmp_path) == []
