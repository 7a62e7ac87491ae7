import shlex
import sys
from pathlib import Path

import pytest

from longline.cli.hints.command_lines import command


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in a folder with a space, by which this process was started."""
    path = tmp_path / "a b" / "longline"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path), "up"])
    return path


def test_a_program_outside_of_the_search_path_is_named_by_its_path(program: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert shlex.split(command("token", "--data", "a 'b'")) == [str(program), "token", "--data", "a 'b'"]


def test_a_program_in_the_search_path_is_named_alone(program: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(program.parent))
    assert command("up") == "longline up"


def test_another_program_of_that_name_is_not_meant(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "other" / "longline"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert shlex.split(command("up"))[0] == str(program)


def test_a_module_that_was_started_by_the_interpreter_is_named_by_the_program_beside_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(sys, "argv", ["/x/longline/cli/__main__.py"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert shlex.split(command("up"))[0] == str(Path(sys.executable).parent / "longline")
