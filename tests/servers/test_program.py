"""A copy of the preloaded process behaves like a program that is started by hand."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import program
from tests.servers.program import COMMAND, Program
from tests.servers.shell import type_command


@pytest.mark.parametrize("words", [("version",), ("version", "--deep"), ("nonsense",), ("settings",)], ids=" ".join)
def test_a_copy_says_and_ends_as_a_start_does(tmp_path: Path, words: tuple[str, ...]):
    env = {"PATH": os.environ["PATH"], "LONGLINE_DATA": str(tmp_path), "LONGLINE_PORT": "1234", "COLUMNS": "200"}
    started = subprocess.run([*COMMAND, *words], env=env, cwd=tmp_path, capture_output=True, text=True)
    copied = program.run(*words, env=env, cwd=tmp_path)
    assert copied.stdout == started.stdout
    assert copied.stderr == started.stderr
    assert copied.returncode == started.returncode


def test_a_copy_is_a_child_of_this_process_and_can_be_killed(tmp_path: Path):
    with Program(["up", "--port", "0", "--data", str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert " listens on " in process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert f"PPid:\t{os.getpid()}\n" in status
        assert os.readlink(f"/proc/{process.pid}/cwd") == os.getcwd()
        process.kill()
    assert process.returncode == -signal.SIGKILL


def test_an_interpreter_is_started_where_the_environment_speaks_to_it(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text("print('customized')")
    told = program.run("version", env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert told.stdout.splitlines()[0] == "customized"


def test_a_shell_starts_the_program_with_its_streams_and_hears_its_exit_code(tmp_path: Path):
    env = {"PATH": os.environ["PATH"], "LONGLINE_PORT": "1234"}
    piped = type_command("pwd; longline version | cat; longline settings | grep -c 1234", env, tmp_path)
    assert piped.stdout.splitlines() == [str(tmp_path), program.run("version").stdout.strip(), "1"]
    failed = type_command("longline nonsense", env, tmp_path)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert "nonsense" in failed.stderr


def test_the_script_runs_the_same_program():
    script = Path(sys.executable).with_name("longline")
    told = subprocess.run([script, "version"], capture_output=True, text=True)
    assert told.stdout == program.run("version").stdout
