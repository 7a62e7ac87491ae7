"""The real command, in a process and a folder of its own."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import program

Outcome = subprocess.CompletedProcess[str]
Command = Callable[..., Outcome]


def surroundings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: of longline's variables only those that the test gives."""
    kept = ("PATH", "HOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **given}


@pytest.fixture
def longline(tmp_path: Path) -> Command:
    """A function that runs a command to its end."""

    def run(*words: str, **given: str) -> Outcome:
        return program.run(*words, cwd=tmp_path, env=surroundings(given))

    return run


@contextmanager
def running(folder: Path, *words: str, **given: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a running command, which is killed if the test leaves it running."""
    process = program.Program(
        words,
        cwd=folder,
        env=surroundings(given),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def assert_one_line(outcome: Outcome, code: int, said: str) -> None:
    """Assert that a command failed with one clear line, no stack, and an empty stdout."""
    assert outcome.returncode == code, outcome.stderr
    assert outcome.stdout == ""
    assert outcome.stderr.count("\n") == 1, outcome.stderr
    assert outcome.stderr.startswith("error: ")
    assert said in outcome.stderr
