"""The work folder in which a file is made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longline.drivers.exports.work_folder import WorkFolder
from longline.model.errors import Unavailable

KILLED = """
import os, sys
from longline.drivers.exports.work_folder import WorkFolder
(WorkFolder(sys.argv[1]).path / "0.flat").write_text("half a table")
os.kill(os.getpid(), 9)
"""


def test_one_process_writes_a_file_at_a_time(tmp_path: Path):
    folder = WorkFolder(str(tmp_path / "x.csv"))
    with pytest.raises(Unavailable, match="another process writes"):
        WorkFolder(str(tmp_path / "x.csv"))
    other = WorkFolder(str(tmp_path / "y.csv"))
    other.remove()
    folder.remove()
    assert os.listdir(tmp_path) == []
    WorkFolder(str(tmp_path / "x.csv")).remove()


def test_the_leftovers_of_a_killed_process_are_removed(tmp_path: Path):
    file = str(tmp_path / "x.csv")
    assert subprocess.run([sys.executable, "-c", KILLED, file], check=False, timeout=60).returncode == -9
    assert len(list(tmp_path.rglob("*.flat"))) == 1
    folder = WorkFolder(file)
    assert list(folder.path.iterdir()) == []
    folder.remove()
    assert os.listdir(tmp_path) == []
