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
    """A real process that is present, and its mark."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_whoever_lives_is_not_gone(tmp_path: Path):
    with somebody(tmp_path) as (_, mark):
        assert mark
        assert not FileProcessLock(tmp_path).gone(mark)
        assert not FileProcessLock(tmp_path).gone(mark), "looking has changed nothing"


def test_whoever_was_killed_is_gone(tmp_path: Path):
    presence = FileProcessLock(tmp_path)
    with somebody(tmp_path) as (process, mark):
        process.kill()
        process.wait()
        assert presence.gone(mark)
        assert presence.gone(mark), "until somebody clears the mark away"
        presence.forget(mark)
        assert not presence.gone(mark)
        presence.forget(mark)
    assert list(tmp_path.iterdir()) == []


def test_whoever_left_in_good_order_leaves_nothing(tmp_path: Path):
    with somebody(tmp_path) as (process, mark):
        process.communicate()
        assert process.returncode == 0
        assert not FileProcessLock(tmp_path).gone(mark)
    assert list(tmp_path.iterdir()) == []


def test_a_child_does_not_inherit_the_life_of_its_parent(tmp_path: Path):
    """A process that outlives the one that started it must not make that one look alive."""
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
def test_of_a_mark_that_is_not_here_nothing_is_known(tmp_path: Path, mark: str):
    inside = tmp_path / "alive"
    inside.mkdir()
    (tmp_path / "outside.alive").touch()
    presence = FileProcessLock(inside)
    assert not presence.gone(mark)
    if mark:
        presence.forget(mark)
    assert (tmp_path / "outside.alive").exists(), "a mark cannot name a file elsewhere"


def test_marks_are_ours_for_as_long_as_we_are_here(tmp_path: Path):
    first, second = FileProcessLock(tmp_path / "new" / "folder"), FileProcessLock(tmp_path / "new" / "folder")
    mine, yours = first.enter(), second.enter()
    assert mine != yours
    assert not second.gone(mine)
    first.release()
    first.release()
    assert not second.gone(mine)
    assert not first.gone(yours)
    second.release()


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot write to the folder"):
        FileProcessLock(tmp_path / "file" / "alive").enter()
