"""Failures of writing a table, each explained in one sentence."""

import errno
from pathlib import Path

import pytest

from longline.drivers.exports.failures import explained
from longline.model.errors import DiskFull, Unavailable


def test_a_full_disk_and_other_failures_name_the_file(tmp_path: Path):
    for code, kind in ((errno.ENOSPC, DiskFull), (errno.EACCES, Unavailable)):
        with pytest.raises(kind, match=r"cannot write .*x\.csv"), explained(str(tmp_path / "x.csv")):
            raise OSError(code, "told by the system")


def test_an_error_of_a_table_writer_is_a_full_disk_only_if_the_disk_is_full(tmp_path: Path, monkeypatch):
    with pytest.raises(KeyError), explained(str(tmp_path / "x.csv")):
        raise KeyError("a fault of ours")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 0}))
    with pytest.raises(DiskFull), explained(str(tmp_path / "x.csv")):
        raise ValueError("the writer says something else")
