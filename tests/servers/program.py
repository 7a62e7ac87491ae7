"""The program in a process of its own, started within milliseconds."""

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MODULE = "longline.cli"
COMMAND = (sys.executable, "-m", MODULE)
MAX_ANSWER_BYTES = 32
TIMEOUT_SECONDS = 120.0

_SET_CHILD_SUBREAPER = 36
_ONE_AT_A_TIME = threading.Lock()


def run(*words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return _run(words, env=env, cwd=cwd, text=True)


def run_for_bytes(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command with binary output to its end."""
    return _run(words)


def _run(words: Sequence[str], **how: Any) -> subprocess.CompletedProcess[Any]:
    with Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as process:
        try:
            out, error = process.communicate(timeout=TIMEOUT_SECONDS)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, error)


class Program(subprocess.Popen[Any]):
    """A command of the program that runs on: a copy of a process that has imported it, and a child of this one.

    If the environment has a variable that the interpreter reads at its start, an interpreter is started. `module` is
    run instead of the program: one that changes it and then runs it.
    """

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str] | None = None, module: str = MODULE, **how: Any
    ) -> None:
        self._environment, self._module = dict(os.environ if env is None else env), module
        super().__init__([sys.executable, "-m", module, *words], env=self._environment, **how)

    def _execute_child(self, args: Any, *rest: Any) -> None:
        if any(self._environment.get(name) != os.environ.get(name) for name in ("PYTHONPATH", "LD_PRELOAD")):
            super()._execute_child(args, *rest)  # type: ignore[misc]  # not in the stubs
            return
        # As of Python 3.11: executable, preexec_fn, close_fds, pass_fds, cwd, ..., the pipes, ..., start_new_session.
        folder, pipes, new_session = rest[4], rest[9:15], rest[-2]
        order = {
            "module": self._module,
            "words": args[len(COMMAND) :],
            "folder": os.fspath(folder or Path.cwd()),
            "environment": self._environment,
            "new_session": new_session,
        }
        streams = [given if given != -1 else number for number, given in enumerate(pipes[i] for i in (0, 3, 5))]
        self.pid = _copy(order, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # not in the stubs


def _copy(order: dict[str, Any], streams: list[int]) -> int:
    orders = _preloaded()
    with _ONE_AT_A_TIME, _adopting_orphans():
        socket.send_fds(orders, [json.dumps(order).encode()], streams)
        return int(orders.recv(MAX_ANSWER_BYTES))


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Become the parent of orphaned descendants."""
    set_option = ctypes.CDLL(None).prctl
    set_option(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        set_option(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def _preloaded() -> socket.socket:
    """Return the socket of one process for the whole run; the process ends when the socket is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.servers.preloaded", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()

    def stop() -> None:
        ours.close()
        process.wait()

    atexit.register(stop)
    return ours
