"""A process that parses pages one after the other, and its end of the pipe.

The process is started by a command of its own rather than by `multiprocessing`, which would import the whole program
once more: a start takes a third of a second instead of a second.
"""

import asyncio
import logging
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from longline.engine.parse.parser_results import MAX_LINKS, Parsed, run
from longline.plugins import Page
from longline.plugins.malloc import keep_freed_memory
from longline.plugins.registry import ParserCode, ParserSources, no_parser

MAX_START_SECONDS = 60.0
"""Seconds that a process may take to import everything; a machine may be busy."""

_END_SECONDS = 1.0
"""Seconds to wait for the exit status of a process that has closed its pipe."""

NICENESS = 10
"""Niceness of a parsing process: on a busy machine, fetches and leases cannot wait."""

MAX_RESULT_BYTES = 64 * 1024 * 1024
"""Largest result in bytes that a process may return for one page."""

COMMAND = f"import sys; sys.path[:] = sys.argv[2:]; from {__name__} import serve; serve(int(sys.argv[1]))"
"""Program of the process, which finds modules on the path of its owner."""

_LEFT = (EOFError, ConnectionResetError, BrokenPipeError)
"""Exceptions that mean that the owner is gone: while idle, in the middle of a message, or before the answer."""

Order = tuple[str, Page]
"""Name of a parser, and a page for it."""


class ParseTimeout(Exception):
    """A page was not parsed in time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the cost of one page; `memory_bytes` 0 leaves the memory of a process unbounded."""

    max_links: int = MAX_LINKS
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ParserAnswer:
    """The result of a page, and the processor time that the process took."""

    parsed: Parsed
    own_seconds: float


class ParserProcess:
    """One process, seen by its owner."""

    def __init__(self, parsers: ParserCode | ParserSources, limits: Limits | None = None) -> None:
        self.parsers = parsers
        self._orders = parsers, limits or Limits()
        ours, theirs = socket.socketpair()
        self._pipe: Connection[Any, Any] = Connection(ours.detach())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, str(theirs.fileno()), *sys.path],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Send the parsers and bounds to the process, and wait until it has imported everything."""
        self._pipe.send(self._orders)
        if not self._pipe.poll(MAX_START_SECONDS):
            raise ParseTimeout
        self._pipe.recv()

    def begin(self, order: Order, seconds: float) -> ParserAnswer | None:
        """Send a page to the process; return the answer, or None when it takes longer than `seconds`."""
        self._pipe.send(order)
        return self.answer(seconds)

    def answer(self, seconds: float) -> ParserAnswer | None:
        """Return the answer of the process, or None when it takes longer than `seconds`."""
        if not self._pipe.poll(seconds):
            return None
        own_seconds: float = self._pipe.recv()
        parsed: Parsed = pickle.loads(self._pipe.recv_bytes(2 * MAX_RESULT_BYTES))
        return ParserAnswer(parsed, own_seconds)

    def was_killed(self) -> bool:
        """Return whether a process that is gone was ended by SIGKILL, and so not by its page."""
        try:
            return self._process.wait(_END_SECONDS) == -signal.SIGKILL
        except subprocess.TimeoutExpired:
            return False

    def kill(self) -> None:
        """Kill the process, and wait for its end."""
        self._process.kill()
        self._process.wait()

    def close_pipe(self) -> None:
        """Close the pipe, at which the process ends."""
        self._pipe.close()

    def end(self) -> None:
        """Kill the process and close its pipe."""
        self.kill()
        self.close_pipe()


def serve(fileno: int) -> None:
    """Parse pages until the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches this process too, and its owner decides
    os.nice(NICENESS)
    keep_freed_memory()
    # The owner logs failures, where logging is set up; the parsers' own log lines are not affected.
    logging.getLogger("longline").setLevel(logging.CRITICAL)
    pipe: Connection[Any, Any] = Connection(fileno)
    with suppress(*_LEFT), asyncio.Runner() as runner:
        shelf, limits = pipe.recv()
        registry = shelf.open()
        _bound_memory(limits.memory_bytes)
        pipe.send("ready")
        while True:
            name, page = pipe.recv()
            begun = time.process_time()
            marked = registry.named(name)
            if marked is None:
                parsed = Parsed(error=no_parser(name, registry.names))
            else:
                parsed = runner.run(run(marked, page, limits.max_links))
            result = _packed(name, parsed)
            pipe.send(time.process_time() - begun)
            pipe.send_bytes(result)


def _bound_memory(max_bytes: int) -> None:
    """Make allocations beyond a bound fail, where the system counts the memory that a process writes to."""
    if max_bytes and sys.platform.startswith("linux"):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _packed(name: str, parsed: Parsed) -> memoryview:
    """Return the pickled result of a page, or a pickled error when the result cannot be sent."""
    try:
        result = ForkingPickler.dumps(parsed)
    except (TypeError, AttributeError, ValueError) as error:  # raised for objects that cannot be pickled
        result = ForkingPickler.dumps(Parsed(error=f"{name}: an item has a field that cannot be kept: {error}"))
    except MemoryError:
        result = ForkingPickler.dumps(Parsed(error=f"{name}: the result of the page takes too much memory"))
    if len(result) > MAX_RESULT_BYTES:
        result = ForkingPickler.dumps(Parsed(error=f"{name}: more than {MAX_RESULT_BYTES} bytes were made of the page"))
    return result
