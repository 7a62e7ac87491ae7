"""The start of any server on loopback, the check that it answers, and its stop."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Generic, TypeVar

Server = TypeVar("Server")

GUARD = Path(__file__).with_name("guard.py")
START_SECONDS = 60.0
ATTEMPTS = 3


class ServerFailed(Exception):
    """A server that did not start; the message ends with its output."""


class PortTaken(ServerFailed):
    """A port that another process took before the server bound it."""


@dataclass(frozen=True)
class Launch(Generic[Server]):
    """The command of one server. `answer` checks it for a sign of life: None or OSError means not yet."""

    command: Sequence[str]
    answer: Callable[[], Server | None]
    prepare: Sequence[Sequence[str]] = ()
    stop: int = signal.SIGTERM
    patience: float = 5.0
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user: tuple[int, int] | None = None
    litter: Sequence[str] = ()


@contextmanager
def running(launch_in: Callable[[Path], Launch[Server]]) -> Iterator[Server]:
    """Start a server in a folder of its own; afterwards neither process nor folder is left."""
    with ExitStack() as stack:
        yield _start(launch_in, stack)


def free_ports(count: int) -> list[int]:
    """Return different ports of loopback without a listener."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _start(launch_in: Callable[[Path], Launch[Server]], stack: ExitStack) -> Server:
    for _ in range(ATTEMPTS - 1):
        try:
            return _try_once(launch_in, stack)
        except PortTaken:
            continue
    return _try_once(launch_in, stack)


def _try_once(launch_in: Callable[[Path], Launch[Server]], stack: ExitStack) -> Server:
    with ExitStack() as attempt:
        folder = _new_folder()
        attempt.callback(shutil.rmtree, folder, ignore_errors=True)
        launch = launch_in(folder)
        log = attempt.enter_context(tempfile.TemporaryFile())
        guard = attempt.enter_context(_guarded(launch, folder, log))
        server = _first_answer(launch.answer, guard, log)
        stack.push(attempt.pop_all())
        return server


def _new_folder() -> Path:
    # Unix sockets are made in there and their paths may not exceed about 100 characters.
    usual = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="longline-", dir=usual if len(usual) <= 60 else "/tmp"))


@contextmanager
def _guarded(launch: Launch[Server], folder: Path, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    order = {
        "folder": str(folder),
        "command": launch.command,
        "prepare": launch.prepare,
        "stop": int(launch.stop),
        "patience": launch.patience,
        "environment": dict(launch.environment),
        "user": launch.user,
        "litter": launch.litter,
    }
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", str(GUARD), json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield guard
    finally:
        guard.communicate()


def _first_answer(answer: Callable[[], Server | None], guard: subprocess.Popen[bytes], log: IO[bytes]) -> Server:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if guard.poll() is not None:
            raise _failure("the server ended while it started", log)
        try:
            server = answer()
        except OSError:
            server = None
        if server is not None:
            return server
        time.sleep(0.02)
    raise _failure(f"the server did not answer within {START_SECONDS:.0f} seconds", log)


def _failure(what: str, log: IO[bytes]) -> ServerFailed:
    log.seek(0)
    said = log.read().decode(errors="replace")
    kind = PortTaken if "already in use" in said.lower() else ServerFailed
    return kind(f"{what}; it said:\n{said[-4000:]}")
