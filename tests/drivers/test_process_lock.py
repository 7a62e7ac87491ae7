import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longline.drivers.process_lock import FileProcessLock
from longline.model.errors import Unavailable

ENTER = """
import sys
from pathlib import Path
from longline.drivers.process_lock import FileProcessLock
presence = FileProcessLock(Path(sys.argv[1]))
print(presence.enter(), flush=True)
sys.stdin.read()
presence.release()
"""


@contextmanager
def somebody(folder: Path, script: str = ENTER) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a real process that holds a lock; yield it and its mark."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_a_living_process_is_not_gone(tmp_path: Path):
    with somebody(tmp_path) as (_, mark):
        assert mark
        assert not FileProcessLock(tmp_path).gone(mark)
        assert not FileProcessLock(tmp_path).gone(mark), "the check has changed nothing"


def test_a_killed_process_is_gone(tmp_path: Path):
    presence = FileProcessLock(tmp_path)
    with somebody(tmp_path) as (process, mark):
        process.kill()
        process.wait()
        assert presence.gone(mark)
        assert presence.gone(mark), "until the mark is removed"
        presence.forget(mark)
        assert not presence.gone(mark)
        presence.forget(mark)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_exits_leaves_no_mark(tmp_path: Path):
    with somebody(tmp_path) as (process, mark):
        process.communicate()
        assert process.returncode == 0
        assert not FileProcessLock(tmp_path).gone(mark)
    assert list(tmp_path.iterdir()) == []


def test_a_child_process_does_not_hold_the_lock_of_its_parent(tmp_path: Path):
    """A process that outlives its parent must not make the parent look alive."""
    start = (
        "import subprocess; child = subprocess.Popen(['sleep', '60'], close_fds=False); print(child.pid, flush=True)"
    )
    with somebody(tmp_path, ENTER.replace("sys.stdin.read()", f"{start}; sys.stdin.read()")) as (process, mark):
        assert process.stdout
        child = int(process.stdout.readline())
        process.kill()
        process.wait()
        try:
            assert FileProcessLock(tmp_path).gone(mark)
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("mark", ["", "01a1-of-another-machine.alive", "../outside.alive", "/etc/hostname"])
def test_a_missing_or_foreign_mark_is_not_gone(tmp_path: Path, mark: str):
    inside = tmp_path / "alive"
    inside.mkdir()
    (tmp_path / "outside.alive").touch()
    presence = FileProcessLock(inside)
    assert not presence.gone(mark)
    if mark:
        presence.forget(mark)
    assert (tmp_path / "outside.alive").exists(), "a mark cannot name a file elsewhere"


def test_a_mark_is_held_until_its_lock_is_released(tmp_path: Path):
    first, second = FileProcessLock(tmp_path / "new" / "folder"), FileProcessLock(tmp_path / "new" / "folder")
    mine, yours = first.enter(), second.enter()
    assert mine != yours
    assert not second.gone(mine)
    first.release()
    first.release()
    assert not second.gone(mine)
    assert not first.gone(yours)
    second.release()


def test_an_unusable_folder_is_reported(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot write to the folder"):
        FileProcessLock(tmp_path / "file" / "alive").enter()
